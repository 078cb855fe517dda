package system

import (
	"cmp"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// Tuples of the token service, with the names of its Solidity interface.
const (
	keyValue = "(bool inheritAccountKey,address contractId,bytes ed25519,bytes ECDSA_secp256k1," +
		"address delegatableContractId)"
	tokenKey = "(uint256 keyType," + keyValue + " key)"
	expiry   = "(int64 second,address autoRenewAccount,int64 autoRenewPeriod) expiry"

	tokenTexts        = "(string name,string symbol,address treasury,string memo"
	tokenKeysArgument = "bool freezeDefault," + tokenKey + "[] tokenKeys"
	tokenProperties   = tokenTexts + ",bool tokenSupplyType,int64 maxSupply," + tokenKeysArgument + "," + expiry
	hederaToken       = tokenProperties + ")"
	tokenWithMetadata = tokenProperties + ",bytes metadata)"

	fixedFee = "(int64 amount,address tokenId,bool useHbarsForPayment,bool useCurrentTokenForPayment," +
		"address feeCollector)[] fixedFees"
	fractional = "(int64 numerator,int64 denominator,int64 minimumAmount,int64 maximumAmount,bool netOfTransfers," +
		"address feeCollector)[] fractionalFees"
	royaltyFee = "(int64 numerator,int64 denominator,int64 amount,address tokenId,bool useHbarsForPayment," +
		"address feeCollector)[] royaltyFees"
	customFees = fixedFee + "," + fractional + "," + royaltyFee

	tokenInfo = "(" + hederaToken + " token,int64 totalSupply,bool deleted,bool defaultKycStatus,bool pauseStatus," +
		customFees + ",string ledgerId) tokenInfo"
	unitsInfo  = "(" + tokenInfo + ",int32 decimals) fungibleTokenInfo"
	serialInfo = "(" + tokenInfo + ",int64 serialNumber,address ownerId,int64 creationTime,bytes metadata," +
		"address spenderId) nonFungibleTokenInfo"
)

// tokenReads returns the read-only functions of the token service.
func tokenReads() []*function {
	const code, account = responseCode + ",", "(address token,address account)"
	return []*function{
		reads("isToken(address token)", code+"bool isToken", isToken),
		readsToken("getTokenType(address token)", code+"int32 tokenType", tokenType),
		reads("isFrozen"+account, code+"bool frozen", isFrozen),
		reads("isKyc"+account, code+"bool kycGranted", isKYC),
		readsToken("getTokenDefaultFreezeStatus(address token)", code+"bool defaultFreezeStatus",
			func(_ *call, t *token) any { return t.FreezeDefault }),
		readsToken("getTokenDefaultKycStatus(address token)", code+"bool defaultKycStatus",
			func(_ *call, t *token) any { return t.KYCByDefault || !t.HasKey(worldstate.KYCKey) }),
		{signature: "getTokenCustomFees(address token)", returns: code + customFees, do: readFees},
		readsToken("getTokenExpiryInfo(address token)", code+expiry,
			func(_ *call, t *token) any { return expiryOf(t) }),
		readsToken("getTokenInfo(address token)", code+tokenInfo,
			func(c *call, t *token) any { return c.info(t) }),
		readsToken("getFungibleTokenInfo(address token)", code+unitsInfo,
			func(c *call, t *token) any { return []any{c.info(t), t.Decimals} }).only(ledger.TokenFungibleCommon),
		reads("getNonFungibleTokenInfo(address token,int64 serialNumber)", code+serialInfo, readSerialInfo),
		reads("getTokenKey(address token,uint256 keyType)", code+keyValue+" key", tokenKeyOf),
		reads("allowance(address token,address owner,address spender)", code+"uint256 allowance", allowance),
		reads("getApproved(address token,uint256 serialNumber)", code+"address approved", approved),
		reads("isApprovedForAll(address token,address owner,address operator)", code+"bool approved", approvedForAll).
			only(ledger.TokenNonFungibleUnique),
	}
}

// tokenOf returns the token of a call and the remaining arguments. It is the called token or the first argument, and
// nil if it does not exist or is deleted. It reads the token if necessary.
func (c *call) tokenOf(in []any) (*token, []any) {
	if c.redirect {
		return c.facts.token(c.entity), in
	}
	return c.facts.token(in[0].(common.Address)), in[1:]
}

// prefetch loads a token and the association of an account with it, by their addresses, in one request to the source.
// It loads nothing if one of the addresses cannot be that of a token or an account.
func (c *call) prefetch(a, account common.Address) {
	id, isNumber := c.facts.tokenID(a)
	p, ok := c.facts.party(account)
	if isNumber && ok {
		c.facts.load(worldstate.TokenReads{
			Tokens: []ledger.EntityID{id}, Relations: []worldstate.RelationKey{{Account: p, Token: id}},
		})
	}
}

// readToken returns the token that a read-only function reads: the called one or the first argument. It fails if the
// token does not exist or has another type than the function requires; the returned token is then not valid.
func (c *call) readToken(in []any) (*token, error) {
	t, _ := c.tokenOf(in)
	return t, refuse(t == nil || c.f.of != "" && t.Type != c.f.of, codes.InvalidTokenID)
}

// readSerial returns the token and the serial that a read-only function reads, the first argument after the token. It
// fails if one of them does not exist or the token is fungible.
func (c *call) readSerial(in []any) (t *token, n *nft, serial int64, err error) {
	t, rest := c.tokenOf(in)
	err = refuse(t == nil || t.Type != ledger.TokenNonFungibleUnique, codes.InvalidTokenID)
	if err != nil {
		return t, n, serial, err
	}
	serial = serialOf(rest[0])
	n, err = c.existingSerial(t, serial, codes.InvalidTokenNFTSerialNumber)
	return t, n, serial, err
}

// readRelation returns a copy of the association of an account with the token at an address. Without one all its
// values are zero. It fails if the token or the account does not exist.
func (c *call) readRelation(at common.Address, account any) (relation, error) {
	c.prefetch(at, account.(common.Address))
	t := c.facts.token(at)
	err := refuse(t == nil, codes.InvalidTokenID)
	if err != nil {
		return relation{}, err
	}
	p, err := c.existingParty(account, codes.InvalidAccountID)
	if err != nil {
		return relation{}, err
	}
	return *c.facts.relation(p, t), nil
}

// isToken implements isToken: it reports whether an address is that of a token that is not deleted.
func isToken(c *call, in []any) (any, error) {
	t, _ := c.tokenOf(in)
	return t != nil, nil
}

// tokenType implements getTokenType: it returns 0 for a fungible token and 1 for a non-fungible one.
func tokenType(_ *call, t *token) any {
	if t.Type == ledger.TokenNonFungibleUnique {
		return int64(1)
	}
	return int64(0)
}

// isFrozen implements isFrozen: it reports whether a token is frozen for an account; false if not associated. It fails
// for an unknown token or account.
func isFrozen(c *call, in []any) (any, error) {
	r, err := c.readRelation(in[0].(common.Address), in[1])
	return r.frozen, err
}

// isKYC implements isKyc: it reports whether an account has been granted KYC for a token; false if not associated. It
// fails for an unknown token or account.
func isKYC(c *call, in []any) (any, error) {
	r, err := c.readRelation(in[0].(common.Address), in[1])
	return r.kyc, err
}

// readFees implements getTokenCustomFees: the fixed, fractional and royalty fees of a token, which must exist.
func readFees(c *call, in []any) ([]any, error) {
	t, err := c.readToken(in)
	if err != nil {
		return nil, err
	}
	return c.fees(t), nil
}

// fees returns the custom fees of a token as values of the ABI: fixed, fractional and royalty fees. It reads their
// collectors on first use; a failed read aborts the run.
func (c *call) fees(t *token) []any {
	f := t.Fees.V
	fixed := list.Map(f.FixedFees, func(x *ledger.FixedFee) any {
		return []any{
			x.Amount, longZero(x.DenominatingTokenID), x.DenominatingTokenID.IsNone(), false,
			c.facts.address(x.CollectorAccountID),
		}
	})
	parts := list.Map(f.FractionalFees, func(x *ledger.FractionalFee) any {
		return []any{
			x.Amount.Numerator, x.Amount.Denominator, x.Minimum, x.Maximum.V, x.NetOfTransfers,
			c.facts.address(x.CollectorAccountID),
		}
	})
	royalties := list.Map(f.RoyaltyFees, func(x *ledger.RoyaltyFee) any {
		fallback := ledger.FallbackFee{}
		if x.FallbackFee != nil {
			fallback = *x.FallbackFee
		}
		return []any{
			x.Amount.Numerator, x.Amount.Denominator, fallback.Amount, longZero(fallback.DenominatingTokenID),
			fallback.DenominatingTokenID.IsNone(), c.facts.address(x.CollectorAccountID),
		}
	})
	return []any{fixed, parts, royalties}
}

const (
	// defaultAutoRenewPeriod is the auto-renew period of a token without one, in seconds.
	defaultAutoRenewPeriod = 7_776_000
	// noExpiry is the expiration of a token without one: the year 2100, in seconds since 1970.
	noExpiry = 4_102_444_800
)

// expiryOf returns the expiry of a token as values of the ABI: seconds, account and period of the renewal. A token
// without an expiration or a period has the defaults.
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

// info returns the struct TokenInfo of the ABI, as getTokenInfo does. Only the second interface uses the last
// value of the token, the metadata.
func (c *call) info(t *token) []any {
	keys := make([]any, 0, worldstate.KeyKinds)
	for kind := range c.keyKinds() {
		keys = append(keys, []any{uint64(1) << kind, keyValueOf(t.Keys[kind])})
	}
	fees := c.fees(t)
	return []any{
		[]any{
			t.Name, t.Symbol, longZero(
				t.TreasuryAccountID,
			), t.Memo, t.SupplyType == ledger.SupplyFinite, t.MaxSupply, t.FreezeDefault, keys,
			expiryOf(t), t.Metadata,
		},
		t.TotalSupply, false, t.KYCByDefault, t.PauseStatus == "PAUSED", fees[0], fees[1], fees[2],
		cmp.Or(ledgerIDs[c.s.cfg.ChainID], "0x03"),
	}
}

// ledgerIDs are the ids of the public networks in hex by their chain ids. That of an unknown network is "0x03".
var ledgerIDs = map[uint64]string{evm.ChainIDMainnet: "0x00", evm.ChainIDTestnet: "0x01", 0x129: "0x02"}

// readSerialInfo implements getNonFungibleTokenInfo: it returns the information about a token and about one of its
// serials. It fails as [call.readSerial] does.
func readSerialInfo(c *call, in []any) (any, error) {
	t, n, serial, err := c.readSerial(in)
	if err != nil {
		return nil, err
	}
	return []any{
		c.info(t), serial, c.facts.address(t.ownerOf(n)), int64(n.created) / nanoseconds, n.metadata,
		c.facts.address(n.spender),
	}, nil
}

// tokenKeyOf implements getTokenKey: it returns a key of a token. The number of a kind of keys has one bit. It
// fails if the token does not have the key.
func tokenKeyOf(c *call, in []any) (any, error) {
	t, err := c.readToken(in)
	if err != nil {
		return nil, err
	}
	number := in[1].(*big.Int)
	for kind := range c.keyKinds() {
		if number.IsUint64() && number.Uint64() == 1<<kind && t.HasKey(kind) {
			return keyValueOf(t.Keys[kind]), nil
		}
	}
	return nil, refusal(codes.KeyNotProvided)
}

// allowance implements allowance(token, owner, spender): it returns the units that the spender may spend of the owner,
// 0 for an unknown spender and for NFTs. An unknown token or owner is a [refusal]. It reads all of them on first use.
func allowance(c *call, in []any) (any, error) {
	t, err := c.readToken(in)
	if err != nil {
		return nil, err
	}
	_, rest := c.tokenOf(in)
	owner, err := c.existingParty(rest[0], codes.InvalidAllowanceOwnerID)
	if err != nil {
		return nil, err
	}
	spender, ok := c.facts.party(rest[1].(common.Address))
	if !ok || t.Type != ledger.TokenFungibleCommon {
		return new(big.Int), nil
	}
	return big.NewInt(*c.facts.allowance(owner, spender, t.EntityID)), nil
}

// serialOf returns a serial, or 0 if the number is negative or too large.
func serialOf(v any) int64 {
	n, ok := amountOf(v)
	if !ok {
		return 0
	}
	return n
}

// approved implements getApproved: it returns the address of the account that may transfer a serial besides its owner,
// zero if there is none. It fails if the serial does not exist.
func approved(c *call, in []any) (any, error) {
	_, n, _, err := c.readSerial(in)
	if err != nil {
		return nil, err
	}
	return c.facts.address(n.spender), nil
}

// approvedForAll implements isApprovedForAll: it reports whether an operator may transfer all serials of an owner. It
// is false for unknown accounts, and fails for an unknown or fungible token.
func approvedForAll(c *call, in []any) (any, error) {
	t, err := c.readToken(in)
	if err != nil {
		return nil, err
	}
	_, rest := c.tokenOf(in)
	owner, known := c.facts.party(rest[0].(common.Address))
	operator, ok := c.facts.party(rest[1].(common.Address))
	return known && ok && *c.facts.operator(owner, operator, t), nil
}

// facadeReads returns the read-only functions of the address of a token: those of ERC-20 and ERC-721, and of the
// network.
func facadeReads() []*function {
	return []*function{
		readsToken("name()", "string", func(_ *call, t *token) any { return t.Name }),
		readsToken("symbol()", "string", func(_ *call, t *token) any { return t.Symbol }),
		readsToken("decimals()", "uint8", func(_ *call, t *token) any { return t.Decimals }).
			only(ledger.TokenFungibleCommon),
		readsToken("totalSupply()", "uint256", func(_ *call, t *token) any { return t.TotalSupply }),
		reads("balanceOf(address account)", "uint256", balanceOf),
		reads("allowance(address owner,address spender)", "uint256", allowance),
		reads("ownerOf(uint256 tokenId)", "address", ownerOf),
		{signature: "tokenURI(uint256 tokenId)", returns: "string", run: tokenURI},
		reads("getApproved(uint256 tokenId)", "address", approved),
		reads("isApprovedForAll(address owner,address operator)",
			"bool", approvedForAll).only(ledger.TokenNonFungibleUnique),
		reads("isAssociated()", "bool associated", isAssociated),
	}
}

// balanceOf implements balanceOf: it returns the balance of an account in units of the smallest denomination, or its
// number of serials. It is 0 without an association, and fails for an unknown token or account.
func balanceOf(c *call, in []any) (any, error) {
	r, err := c.readRelation(c.entity, in[0])
	return r.balance, err
}

// ownerOf implements ownerOf: it returns the address of a serial's owner. It fails if the serial does not exist or
// its owner is deleted.
func ownerOf(c *call, in []any) (any, error) {
	t, n, _, err := c.readSerial(in)
	if err != nil {
		return nil, err
	}
	owner := t.ownerOf(n)
	err = refuse(owner != 0 && c.State.Entity(longZero(owner)) == nil, codes.InvalidTokenNFTSerialNumber)
	if err != nil {
		return nil, err
	}
	return c.facts.address(owner), nil
}

// noSuchURI is the URI of a serial that does not exist.
const noSuchURI = "ERC721Metadata: URI query for nonexistent token"

// tokenURI implements tokenURI: it ends the call with the metadata of a serial as text. A serial that does not
// exist has a constant text; a fungible token halts the frame.
func tokenURI(c *call, in []any) evm.Outcome {
	t, rest := c.tokenOf(in)
	switch {
	case t == nil:
		return c.fails(codes.InvalidTokenID)
	case t.Type != ledger.TokenNonFungibleUnique:
		return evm.Halt(codes.ContractExecutionException)
	}
	n := c.facts.nft(t, serialOf(rest[0]))
	if n == nil {
		return c.returns(noSuchURI)
	}
	return c.returns(strings.ToValidUTF8(string(n.metadata), "\uFFFD"))
}

// isAssociated implements isAssociated: it reports whether the caller is associated with the called token. It is false
// for an unknown caller, and fails for an unknown token.
func isAssociated(c *call, in []any) (any, error) {
	c.prefetch(c.entity, c.Caller)
	t, err := c.readToken(in)
	if err != nil {
		return nil, err
	}
	p, ok := c.facts.party(c.Caller)
	return ok && c.facts.relation(p, t).associated, nil
}
