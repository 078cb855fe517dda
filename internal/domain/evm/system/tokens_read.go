package system

import (
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// Tuples of the token service, with the names of its Solidity interface.
const (
	keyValue          = "(bool,address,bytes,bytes,address)"
	tokenKey          = "(uint256," + keyValue + ")"
	expiry            = "(int64,address,int64)"
	hederaToken       = "(string,string,address,string,bool,int64,bool," + tokenKey + "[]," + expiry + ")"
	tokenWithMetadata = "(string,string,address,string,bool,int64,bool," + tokenKey + "[]," + expiry + ",bytes)"
	fixedFee          = "(int64,address,bool,bool,address)"
	fractional        = "(int64,int64,int64,int64,bool,address)"
	royaltyFee        = "(int64,int64,int64,address,bool,address)"
	tokenInfo         = "(" + hederaToken + ",int64,bool,bool,bool," + fixedFee + "[]," + fractional + "[]," + royaltyFee + "[],string)"
)

// tokenReads returns the read-only functions of the token service.
func tokenReads() []*function {
	return []*function{
		{signature: "isToken(address)", returns: "int64,bool", run: isToken},
		{signature: "getTokenType(address)", returns: "int64,int32", run: ofToken(func(_ *call, t *token) []any { return []any{typeNumber(t)} })},
		{signature: "isFrozen(address,address)", returns: "int64,bool", run: ofRelation(func(r *relation) bool { return r.frozen })},
		{signature: "isKyc(address,address)", returns: "int64,bool", run: ofRelation(func(r *relation) bool { return r.kyc })},
		{
			signature: "getTokenDefaultFreezeStatus(address)", returns: "int64,bool",
			run: ofToken(func(_ *call, t *token) []any { return []any{t.FreezeDefault} }),
		},
		{
			signature: "getTokenDefaultKycStatus(address)", returns: "int64,bool",
			run: ofToken(func(_ *call, t *token) []any { return []any{t.KYCByDefault || !t.HasKey(worldstate.KYCKey)} }),
		},
		{
			signature: "getTokenCustomFees(address)", returns: "int64," + fixedFee + "[]," + fractional + "[]," + royaltyFee + "[]",
			run: ofToken(func(c *call, t *token) []any { return c.fees(t) }),
		},
		{signature: "getTokenExpiryInfo(address)", returns: "int64," + expiry, run: ofToken(func(_ *call, t *token) []any { return []any{expiryOf(t)} })},
		{signature: "getTokenInfo(address)", returns: "int64," + tokenInfo, run: ofToken(func(c *call, t *token) []any { return []any{c.info(t)} })},
		{
			signature: "getFungibleTokenInfo(address)", returns: "int64,(" + tokenInfo + ",int32)",
			run: reading(ledger.TokenFungibleCommon, func(c *call, t *token, _ []any) evm.Outcome { return c.answers([]any{c.info(t), t.Decimals}) }),
		},
		{
			signature: "getNonFungibleTokenInfo(address,int64)", returns: "int64,(" + tokenInfo + ",int64,address,int64,bytes,address)",
			run: readingSerial(serialInfo),
		},
		{signature: "getTokenKey(address,uint256)", returns: "int64," + keyValue, run: reading("", tokenKeyOf)},
		{signature: "allowance(address,address,address)", returns: "int64,uint256", run: reading("", allowance)},
		{signature: "getApproved(address,uint256)", returns: "int64,address", run: readingSerial(approved)},
		{signature: "isApprovedForAll(address,address,address)", returns: "int64,bool", run: reading(ledger.TokenNonFungibleUnique, approvedForAll)},
	}
}

// tokenOf returns the token of a call and the remaining arguments. It is the called token or the first argument.
func (c *call) tokenOf(in []any) (*token, []any) {
	if c.redirect {
		return c.facts.token(c.entity), in
	}
	return c.facts.token(in[0].(common.Address)), in[1:]
}

// prefetch loads a token and the associations of accounts with it together.
func (c *call) prefetch(a common.Address, accounts ...common.Address) {
	id, ok := c.facts.tokenID(a)
	if !ok {
		return
	}
	req := request{tokens: []ledger.EntityID{id}}
	for _, account := range accounts {
		if p, ok := c.facts.party(account); ok {
			req.relations = append(req.relations, relationKey{p, id})
		}
	}
	c.facts.load(req)
}

// answers ends a read-only function successfully. The values follow the code of success, except at the address of an entity.
func (c *call) answers(values ...any) evm.Outcome {
	if c.redirect {
		return c.returns(values...)
	}
	return c.returns(append([]any{int64(codes.Success)}, values...)...)
}

// reading returns a read-only function of a token. If kind is not empty, the token must have this type.
func reading(kind ledger.TokenType, answer func(c *call, t *token, in []any) evm.Outcome) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		t, rest := c.tokenOf(in)
		if t == nil || kind != "" && t.Type != kind {
			return c.fails(codes.InvalidTokenID)
		}
		return answer(c, t, rest)
	}
}

// readingSerial returns a read-only function of a serial, the first argument after the token.
func readingSerial(answer func(c *call, t *token, n *nft, serial int64) evm.Outcome) func(*call, []any) evm.Outcome {
	return reading(ledger.TokenNonFungibleUnique, func(c *call, t *token, in []any) evm.Outcome {
		serial := serialOf(in[0])
		n := c.facts.nft(t, serial)
		if n == nil {
			return c.fails(codes.InvalidTokenNFTSerialNumber)
		}
		return answer(c, t, n, serial)
	})
}

// ofToken returns a read-only function that returns properties of a token.
func ofToken(value func(*call, *token) []any) func(*call, []any) evm.Outcome {
	return reading("", func(c *call, t *token, _ []any) evm.Outcome { return c.answers(value(c, t)...) })
}

func isToken(c *call, in []any) evm.Outcome {
	t, _ := c.tokenOf(in)
	return c.answers(t != nil)
}

// typeNumber returns the number that contracts use for a token type.
func typeNumber(t *token) int64 {
	if t.Type == ledger.TokenNonFungibleUnique {
		return 1
	}
	return 0
}

// ofRelation returns a read-only function of an account's association with a token. Without an association it returns false.
func ofRelation(value func(*relation) bool) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		account := in[1].(common.Address)
		c.prefetch(in[0].(common.Address), account)
		t, _ := c.tokenOf(in)
		if t == nil {
			return c.fails(codes.InvalidTokenID)
		}
		p, ok := c.facts.party(account)
		if !ok {
			return c.fails(codes.InvalidAccountID)
		}
		r := c.facts.relation(p, t)
		return c.answers(r.associated && value(r))
	}
}

func (c *call) fees(t *token) []any {
	f := t.Fees.V
	fixed, parts, royalties := []any{}, []any{}, []any{}
	for _, x := range f.FixedFees {
		token := longZero(x.DenominatingTokenID)
		fixed = append(fixed, []any{x.Amount, token, x.DenominatingTokenID.IsNone(), false, c.facts.address(partyOf(x.CollectorAccountID))})
	}
	for _, x := range f.FractionalFees {
		parts = append(parts, []any{
			x.Amount.Numerator, x.Amount.Denominator, x.Minimum, x.Maximum.V, x.NetOfTransfers, c.facts.address(partyOf(x.CollectorAccountID)),
		})
	}
	for _, x := range f.RoyaltyFees {
		fallback := ledger.FallbackFee{}
		if x.FallbackFee != nil {
			fallback = *x.FallbackFee
		}
		royalties = append(royalties, []any{
			x.Amount.Numerator, x.Amount.Denominator, fallback.Amount, longZero(fallback.DenominatingTokenID), fallback.DenominatingTokenID.IsNone(),
			c.facts.address(partyOf(x.CollectorAccountID)),
		})
	}
	return []any{fixed, parts, royalties}
}

const (
	// defaultAutoRenewPeriod is the auto-renew period of a token without one, in seconds.
	defaultAutoRenewPeriod = 7_776_000
	// noExpiry is the expiration of a token without one: the year 2100, in seconds since 1970.
	noExpiry = 4_102_444_800
)

func expiryOf(t *token) []any {
	second := int64(noExpiry)
	if t.ExpirationTimestamp.Valid {
		second = int64(t.ExpirationTimestamp.V) / 1_000_000_000
	}
	return []any{second, longZero(t.AutoRenewAccountID), t.AutoRenewPeriod.Or(defaultAutoRenewPeriod)}
}

// keyKinds returns the number of key kinds of the interface. The first interface has no metadata key.
func (c *call) keyKinds() worldstate.KeyKind {
	if c.s.number == SecondTokenService {
		return worldstate.KeyKinds
	}
	return worldstate.MetadataKey
}

// info returns the result of getTokenInfo. Only the second interface uses the last value, the metadata.
func (c *call) info(t *token) []any {
	keys := make([]any, 0, worldstate.KeyKinds)
	for kind := range c.keyKinds() {
		keys = append(keys, []any{uint64(1) << kind, keyValueOf(t.Keys[kind])})
	}
	fees := c.fees(t)
	return []any{
		[]any{
			t.Name, t.Symbol, longZero(t.TreasuryAccountID), t.Memo, t.SupplyType == ledger.SupplyFinite, t.MaxSupply, t.FreezeDefault, keys,
			expiryOf(t), t.Metadata,
		},
		t.TotalSupply, false, t.KYCByDefault, t.PauseStatus == "PAUSED", fees[0], fees[1], fees[2], c.ledgerID(),
	}
}

func (c *call) ledgerID() string {
	switch c.s.cfg.ChainID {
	case evm.ChainIDMainnet:
		return "0x00"
	case evm.ChainIDTestnet:
		return "0x01"
	case chainIDPreviewnet:
		return "0x02"
	default:
		return "0x03"
	}
}

const chainIDPreviewnet = 0x129

func serialInfo(c *call, t *token, n *nft, serial int64) evm.Outcome {
	return c.answers([]any{
		c.info(t), serial, c.facts.address(c.facts.owner(t, n)), int64(n.created) / 1_000_000_000, n.metadata, c.facts.address(n.spender),
	})
}

func tokenKeyOf(c *call, t *token, in []any) evm.Outcome {
	number := in[0].(*big.Int)
	for kind := range c.keyKinds() {
		if number.IsUint64() && number.Uint64() == 1<<kind && t.HasKey(kind) {
			return c.answers(keyValueOf(t.Keys[kind]))
		}
	}
	return c.fails(codes.KeyNotProvided)
}

func allowance(c *call, t *token, in []any) evm.Outcome {
	owner, ok := c.facts.party(in[0].(common.Address))
	if !ok {
		return c.fails(codes.InvalidAllowanceOwnerID)
	}
	spender, ok := c.facts.party(in[1].(common.Address))
	if !ok || t.Type != ledger.TokenFungibleCommon {
		return c.answers(new(big.Int))
	}
	return c.answers(big.NewInt(*c.facts.allowance(owner, spender, t)))
}

// serialOf returns a serial, or 0 if the number is negative or too large.
func serialOf(v any) int64 {
	n, ok := amountOf(v)
	if !ok {
		return 0
	}
	return n
}

func approved(c *call, _ *token, n *nft, _ int64) evm.Outcome {
	return c.answers(c.facts.address(n.spender))
}

func approvedForAll(c *call, t *token, in []any) evm.Outcome {
	owner, known := c.facts.party(in[0].(common.Address))
	operator, ok := c.facts.party(in[1].(common.Address))
	return c.answers(known && ok && *c.facts.operator(owner, operator, t))
}

// facadeReads returns the read-only functions of the address of a token: those of ERC-20 and ERC-721, and of the network.
func facadeReads() []*function {
	return []*function{
		{signature: "name()", returns: "string", run: ofToken(func(_ *call, t *token) []any { return []any{t.Name} })},
		{signature: "symbol()", returns: "string", run: ofToken(func(_ *call, t *token) []any { return []any{t.Symbol} })},
		{
			signature: "decimals()", returns: "uint8",
			run: reading(ledger.TokenFungibleCommon, func(c *call, t *token, _ []any) evm.Outcome { return c.answers(t.Decimals) }),
		},
		{signature: "totalSupply()", returns: "uint256", run: ofToken(func(_ *call, t *token) []any { return []any{t.TotalSupply} })},
		{signature: "balanceOf(address)", returns: "uint256", run: balanceOf},
		{signature: "allowance(address,address)", returns: "uint256", run: reading("", allowance)},
		{signature: "ownerOf(uint256)", returns: "address", run: readingSerial(ownerOf)},
		{signature: "tokenURI(uint256)", returns: "string", run: reading("", tokenURI)},
		{signature: "getApproved(uint256)", returns: "address", run: readingSerial(approved)},
		{signature: "isApprovedForAll(address,address)", returns: "bool", run: reading(ledger.TokenNonFungibleUnique, approvedForAll)},
		{signature: "isAssociated()", returns: "bool", run: isAssociated},
	}
}

func balanceOf(c *call, in []any) evm.Outcome {
	account := in[0].(common.Address)
	c.prefetch(c.entity, account)
	t, _ := c.tokenOf(in)
	if t == nil {
		return c.fails(codes.InvalidTokenID)
	}
	p, ok := c.facts.party(account)
	if !ok {
		return c.fails(codes.InvalidAccountID)
	}
	balance := int64(0)
	if r := c.facts.relation(p, t); r.associated {
		balance = r.balance
	}
	return c.answers(balance)
}

func ownerOf(c *call, t *token, n *nft, _ int64) evm.Outcome {
	owner := c.facts.owner(t, n)
	if owner.id != 0 && c.State.Entity(longZero(owner.id)) == nil {
		return c.fails(codes.InvalidTokenNFTSerialNumber)
	}
	return c.answers(c.facts.address(owner))
}

// noSuchURI is the URI of a serial that does not exist.
const noSuchURI = "ERC721Metadata: URI query for nonexistent token"

func tokenURI(c *call, t *token, in []any) evm.Outcome {
	if t.Type != ledger.TokenNonFungibleUnique {
		return evm.Halt(codes.ContractExecutionException)
	}
	n := c.facts.nft(t, serialOf(in[0]))
	if n == nil {
		return c.answers(noSuchURI)
	}
	return c.answers(strings.ToValidUTF8(string(n.metadata), "\uFFFD"))
}

func isAssociated(c *call, in []any) evm.Outcome {
	c.prefetch(c.entity, c.Caller)
	t, _ := c.tokenOf(in)
	if t == nil {
		return c.fails(codes.InvalidTokenID)
	}
	p, ok := c.facts.party(c.Caller)
	return c.answers(ok && c.facts.relation(p, t).associated)
}
