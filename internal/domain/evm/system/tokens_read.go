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
		reads("getTokenType(address token)", code+"int32 tokenType", tokenType),
		reads("isFrozen"+account, code+"bool frozen", isFrozen),
		reads("isKyc"+account, code+"bool kycGranted", isKYC),
		reads("getTokenDefaultFreezeStatus(address token)", code+"bool defaultFreezeStatus", defaultFreeze),
		reads("getTokenDefaultKycStatus(address token)", code+"bool defaultKycStatus", defaultKYC),
		{signature: "getTokenCustomFees(address token)", returns: code + customFees, do: readFees},
		reads("getTokenExpiryInfo(address token)", code+expiry, readExpiry),
		reads("getTokenInfo(address token)", code+tokenInfo, readInfo),
		reads("getFungibleTokenInfo(address token)", code+unitsInfo, readUnitsInfo).only(ledger.TokenFungibleCommon),
		reads("getNonFungibleTokenInfo(address token,int64 serialNumber)", code+serialInfo, readSerialInfo),
		reads("getTokenKey(address token,uint256 keyType)", code+keyValue+" key", tokenKeyOf),
		reads("allowance(address token,address owner,address spender)", code+"uint256 allowance", allowance),
		reads("getApproved(address token,uint256 serialNumber)", code+"address approved", approved),
		reads("isApprovedForAll(address token,address owner,address operator)", code+"bool approved", approvedForAll).
			only(ledger.TokenNonFungibleUnique),
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

// readToken returns the token that a read-only function reads.
func (c *call) readToken(in []any) *token {
	t, _ := c.tokenOf(in)
	failIf(t == nil || c.f.of != "" && t.Type != c.f.of, codes.InvalidTokenID)
	return t
}

// readSerial returns the serial that a read-only function reads, the first argument after the token.
func (c *call) readSerial(in []any) (t *token, n *nft, serial int64) {
	t, rest := c.tokenOf(in)
	failIf(t == nil || t.Type != ledger.TokenNonFungibleUnique, codes.InvalidTokenID)
	serial = serialOf(rest[0])
	return t, c.existingSerial(t, serial, codes.InvalidTokenNFTSerialNumber), serial
}

// readRelation returns the association of an account with a token. Without one all its values are zero.
func (c *call) readRelation(at, account common.Address) relation {
	c.prefetch(at, account)
	t := c.facts.token(at)
	failIf(t == nil, codes.InvalidTokenID)
	if r := c.facts.relation(c.existingParty(account, codes.InvalidAccountID), t); r.associated {
		return *r
	}
	return relation{}
}

func isToken(c *call, in []any) any {
	t, _ := c.tokenOf(in)
	return t != nil
}

// tokenType returns 0 for a fungible token and 1 for a non-fungible one.
func tokenType(c *call, in []any) any {
	if c.readToken(in).Type == ledger.TokenNonFungibleUnique {
		return int64(1)
	}
	return int64(0)
}

func isFrozen(c *call, in []any) any {
	return c.readRelation(in[0].(common.Address), in[1].(common.Address)).frozen
}

func isKYC(c *call, in []any) any {
	return c.readRelation(in[0].(common.Address), in[1].(common.Address)).kyc
}

func defaultFreeze(c *call, in []any) any { return c.readToken(in).FreezeDefault }

func defaultKYC(c *call, in []any) any {
	t := c.readToken(in)
	return t.KYCByDefault || !t.HasKey(worldstate.KYCKey)
}

func readFees(c *call, in []any) []any { return c.fees(c.readToken(in)) }

func readExpiry(c *call, in []any) any { return expiryOf(c.readToken(in)) }

func readInfo(c *call, in []any) any { return c.info(c.readToken(in)) }

func readUnitsInfo(c *call, in []any) any {
	t := c.readToken(in)
	return []any{c.info(t), t.Decimals}
}

func (c *call) fees(t *token) []any {
	f := t.Fees.V
	fixed, parts, royalties := []any{}, []any{}, []any{}
	for _, x := range f.FixedFees {
		token := longZero(x.DenominatingTokenID)
		fixed = append(fixed, []any{
			x.Amount, token, x.DenominatingTokenID.IsNone(), false, c.facts.address(partyOf(x.CollectorAccountID)),
		})
	}
	for _, x := range f.FractionalFees {
		parts = append(parts, []any{
			x.Amount.Numerator, x.Amount.Denominator, x.Minimum, x.Maximum.V, x.NetOfTransfers, c.facts.address(
				partyOf(x.CollectorAccountID),
			),
		})
	}
	for _, x := range f.RoyaltyFees {
		fallback := ledger.FallbackFee{}
		if x.FallbackFee != nil {
			fallback = *x.FallbackFee
		}
		royalties = append(royalties, []any{
			x.Amount.Numerator, x.Amount.Denominator, fallback.Amount, longZero(
				fallback.DenominatingTokenID,
			), fallback.DenominatingTokenID.IsNone(),
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
			t.Name, t.Symbol, longZero(
				t.TreasuryAccountID,
			), t.Memo, t.SupplyType == ledger.SupplyFinite, t.MaxSupply, t.FreezeDefault, keys,
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

func readSerialInfo(c *call, in []any) any {
	t, n, serial := c.readSerial(in)
	return []any{
		c.info(t), serial, c.facts.address(c.facts.owner(t, n)), int64(n.created) / nanoseconds, n.metadata,
		c.facts.address(n.spender),
	}
}

func tokenKeyOf(c *call, in []any) any {
	t, number := c.readToken(in), in[1].(*big.Int)
	for kind := range c.keyKinds() {
		if number.IsUint64() && number.Uint64() == 1<<kind && t.HasKey(kind) {
			return keyValueOf(t.Keys[kind])
		}
	}
	failIf(true, codes.KeyNotProvided)
	return nil
}

func allowance(c *call, in []any) any {
	t := c.readToken(in)
	_, rest := c.tokenOf(in)
	owner := c.existingParty(rest[0], codes.InvalidAllowanceOwnerID)
	spender, ok := c.facts.party(rest[1].(common.Address))
	if !ok || t.Type != ledger.TokenFungibleCommon {
		return new(big.Int)
	}
	return big.NewInt(*c.facts.allowance(owner, spender, t))
}

// serialOf returns a serial, or 0 if the number is negative or too large.
func serialOf(v any) int64 {
	n, ok := amountOf(v)
	if !ok {
		return 0
	}
	return n
}

func approved(c *call, in []any) any {
	_, n, _ := c.readSerial(in)
	return c.facts.address(n.spender)
}

func approvedForAll(c *call, in []any) any {
	t := c.readToken(in)
	_, rest := c.tokenOf(in)
	owner, known := c.facts.party(rest[0].(common.Address))
	operator, ok := c.facts.party(rest[1].(common.Address))
	return known && ok && *c.facts.operator(owner, operator, t)
}

// facadeReads returns the read-only functions of the address of a token: those of ERC-20 and ERC-721, and of the
// network.
func facadeReads() []*function {
	return []*function{
		reads("name()", "string", tokenName),
		reads("symbol()", "string", tokenSymbol),
		reads("decimals()", "uint8", decimals).only(ledger.TokenFungibleCommon),
		reads("totalSupply()", "uint256", totalSupply),
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

func tokenName(c *call, in []any) any { return c.readToken(in).Name }

func tokenSymbol(c *call, in []any) any { return c.readToken(in).Symbol }

func decimals(c *call, in []any) any { return c.readToken(in).Decimals }

func totalSupply(c *call, in []any) any { return c.readToken(in).TotalSupply }

func balanceOf(c *call, in []any) any {
	return c.readRelation(c.entity, in[0].(common.Address)).balance
}

func ownerOf(c *call, in []any) any {
	t, n, _ := c.readSerial(in)
	owner := c.facts.owner(t, n)
	failIf(owner.id != 0 && c.State.Entity(longZero(owner.id)) == nil, codes.InvalidTokenNFTSerialNumber)
	return c.facts.address(owner)
}

// noSuchURI is the URI of a serial that does not exist.
const noSuchURI = "ERC721Metadata: URI query for nonexistent token"

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

// isAssociated reports whether the caller is associated with the called token.
func isAssociated(c *call, in []any) any {
	c.prefetch(c.entity, c.Caller)
	t := c.readToken(in)
	p, ok := c.facts.party(c.Caller)
	return ok && c.facts.relation(p, t).associated
}
