package system

import (
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// Tuples of functions that write, with the names of the interface of the token service.
const (
	moves          = "(address accountID,int64 amount)[] transfers"
	serialMoves    = "(address senderAccountID,address receiverAccountID,int64 serialNumber)[] nftTransfers"
	allowedMoves   = "(address accountID,int64 amount,bool isApproval)[] transfers"
	allowedSerials = "(address senderAccountID,address receiverAccountID,int64 serialNumber,bool isApproval)[]" +
		" nftTransfers"
	tokenMoves      = "(address token," + moves + "," + serialMoves + ")[] tokenTransfers"
	allowedTokens   = "(address token," + allowedMoves + "," + allowedSerials + ")[] tokenTransfers"
	pendingAirdrops = "(address sender,address receiver,address token,int64 serial)[] pendingAirdrops"

	oldExpiry  = "(uint32 second,address autoRenewAccount,uint32 autoRenewPeriod) expiry"
	oldToken   = tokenTexts + ",bool tokenSupplyType,uint32 maxSupply," + tokenKeysArgument + "," + oldExpiry + ")"
	newerToken = tokenTexts + ",bool tokenSupplyType,int64 maxSupply," + tokenKeysArgument + "," + oldExpiry + ")"

	oldFixedFee = "(uint32 amount,address tokenId,bool useHbarsForPayment,bool useCurrentTokenForPayment," +
		"address feeCollector)[] fixedFees"
	oldFractionalFee = "(uint32 numerator,uint32 denominator,uint32 minimumAmount,uint32 maximumAmount," +
		"bool netOfTransfers,address feeCollector)[] fractionalFees"
	oldRoyaltyFee = "(uint32 numerator,uint32 denominator,uint32 amount,address tokenId,bool useHbarsForPayment," +
		"address feeCollector)[] royaltyFees"
)

// tokenFunctions returns the table of the functions of the token service (HTS), which the EVM calls at its
// address.
func tokenFunctions() []*function {
	return slices.Concat(tokenReads(), tokenWrites(), tokenCreations())
}

// secondTokenFunctions returns the functions of the second interface: the newest forms of those of the first, for
// tokens with metadata.
func secondTokenFunctions() []*function {
	var out []*function
	for _, f := range tokenFunctions() {
		if strings.Contains(f.signature, oldExpiry) {
			continue
		}
		f.signature = strings.ReplaceAll(f.signature, hederaToken, tokenWithMetadata)
		f.returns = strings.ReplaceAll(f.returns, hederaToken, tokenWithMetadata)
		out = append(out, f)
	}
	return out
}

// tokenFacade returns the table of the functions that a token has at its own address.
func tokenFacade() []*function {
	return slices.Concat(facadeReads(), facadeWrites())
}

// Prices in tinycents.
const (
	hbarPrice      = dollar / 10_000
	tokenPrice     = dollar / 1_000 // of transfers and most updates
	feePrice       = dollar / 500   // of transfers with custom fees
	serialPrice    = dollar / 50    // of minting a serial
	associatePrice = dollar / 20    // of an association or dissociation
	accountPrice   = dollar / 20    // of an account that a transfer creates
	airdropPrice   = dollar / 10
)

// tokenWrites returns the functions of the token service that change tokens and relationships, with their prices and
// response types.
func tokenWrites() []*function {
	const (
		units, serials = ledger.TokenFungibleCommon, ledger.TokenNonFungibleUnique

		transfer = "(address token,address sender,address recipient,"
		account  = "(address token,address account)"
	)
	return []*function{
		writesFor(priceOfTransfer, "cryptoTransfer("+tokenMoves+")", responseCode, cryptoTransfer),
		writesFor(priceOfTransfer, "cryptoTransfer(("+allowedMoves+") transferList,"+allowedTokens+")",
			responseCode, cryptoTransfer),
		writesFor(priceOfToken, "transferTokens(address token,address[] accountId,int64[] amount)",
			responseCode, sendUnitsOfAll),
		writesFor(priceOfToken, "transferToken"+transfer+"int64 amount)", responseCode, sendUnits),
		writesFor(priceOfToken, "transferNFTs(address token,address[] sender,address[] receiver,int64[] serialNumber)",
			responseCode, sendSerials),
		writesFor(priceOfToken, "transferNFT"+transfer+"int64 serialNumber)", responseCode, sendSerial),
		writesFor(priceOfToken, "transferFrom(address token,address from,address to,uint256 amount)",
			responseCode, takeOf).limited(4).only(units),
		writesFor(priceOfToken, "transferFromNFT(address token,address from,address to,uint256 serialNumber)",
			responseCode, takeOf).limited(4).only(serials),
		writes(approvePrice, "approve(address token,address spender,uint256 amount)",
			responseCode+",bool success", nil).results(approveOf).limited(3).only(units),
		writes(approvePrice, "approveNFT(address token,address approved,uint256 serialNumber)",
			responseCode, nil).results(approveOf).only(serials),
		writes(approvePrice, "setApprovalForAll(address token,address operator,bool approved)",
			responseCode, setApprovalForAll),
		writesFor(priceOfMint, "mintToken(address token,uint64 amount,bytes[] metadata)",
			responseCode+",uint64 newTotalSupply,int64[] serialNumbers", nil).results(mint).limited(2),
		writesFor(priceOfMint, "mintToken(address token,int64 amount,bytes[] metadata)",
			responseCode+",int64 newTotalSupply,int64[] serialNumbers", nil).results(mint),
		writes(tokenPrice, "burnToken(address token,uint64 amount,int64[] serialNumbers)",
			responseCode+",uint64 newTotalSupply", nil).results(burn).limited(2),
		writes(tokenPrice, "burnToken(address token,int64 amount,int64[] serialNumbers)",
			responseCode+",int64 newTotalSupply", nil).results(burn),
		writesFor(priceOfAssociations, "associateToken(address account,address token)", responseCode, associate),
		writesFor(priceOfAssociations, "associateTokens(address account,address[] tokens)", responseCode, associate),
		writesFor(priceOfAssociations, "dissociateToken(address account,address token)", responseCode, dissociate),
		writesFor(priceOfAssociations, "dissociateTokens(address account,address[] tokens)", responseCode, dissociate),
		writes(tokenPrice, "freezeToken"+account, responseCode, setFrozen).set(),
		writes(tokenPrice, "unfreezeToken"+account, responseCode, setFrozen),
		writes(tokenPrice, "grantTokenKyc"+account, responseCode, setKYC).set(),
		writes(tokenPrice, "revokeTokenKyc"+account, responseCode, setKYC),
		writes(tokenPrice, "pauseToken(address token)", responseCode, setPause).set(),
		writes(tokenPrice, "unpauseToken(address token)", responseCode, setPause),
		writes(tokenPrice, "deleteToken(address token)", responseCode, deleteToken),
		writes(tokenPrice, "wipeTokenAccount(address token,address account,uint32 amount)", responseCode, wipe),
		writes(tokenPrice, "wipeTokenAccount(address token,address account,int64 amount)", responseCode, wipe),
		writes(tokenPrice, "wipeTokenAccountNFT(address token,address account,int64[] serialNumbers)",
			responseCode, wipe),
		writes(tokenPrice, "updateTokenInfo(address token,"+hederaToken+" tokenInfo)", responseCode, updateInfo),
		writes(tokenPrice, "updateTokenInfo(address token,"+oldToken+" tokenInfo)", responseCode, updateInfo),
		writes(tokenPrice, "updateTokenInfo(address token,"+newerToken+" tokenInfo)", responseCode, updateInfo),
		writes(tokenPrice, "updateTokenExpiryInfo(address token,"+expiry+")", responseCode, updateExpiry),
		writes(tokenPrice, "updateTokenExpiryInfo(address token,"+oldExpiry+")", responseCode, updateExpiry),
		writes(tokenPrice, "updateTokenKeys(address token,"+tokenKey+"[] keys)", responseCode, updateKeys),
		writes(tokenPrice, "updateFungibleTokenCustomFees(address token,"+fixedFee+","+fractional+")",
			responseCode, updateFees).only(units),
		writes(tokenPrice, "updateNonFungibleTokenCustomFees(address token,"+fixedFee+","+royaltyFee+")",
			responseCode, updateFees).only(serials),
		writes(tokenPrice, "updateNFTsMetadata(address token,int64[] serialNumbers,bytes metadata)",
			responseCode, updateMetadata),
		writesFor(priceOfAirdrop, "airdropTokens("+allowedTokens+")", responseCode, airdropTokens),
		writes(tokenPrice, "cancelAirdrops("+pendingAirdrops+")", responseCode, settleAirdrops),
		writes(tokenPrice, "claimAirdrops("+pendingAirdrops+")", responseCode, settleAirdrops).set(),
		writes(tokenPrice,
			"rejectTokens(address rejectingAddress,address[] ftAddresses,(address nft,int64 serial)[] nftIDs)",
			responseCode, rejectTokens),
	}
}

// facadeWrites returns the functions of a token's address that change the ledger, with their prices and response
// types.
func facadeWrites() []*function {
	return []*function{
		writes(approvePrice, "approve(address spender,uint256 amount)", "bool success", nil).
			results(approve).limited(2),
		writesFor(priceOfToken, "transfer(address recipient,uint256 amount)", "bool success", nil).
			results(transferOwn).limited(2),
		writesFor(priceOfToken, "transferFrom(address sender,address recipient,uint256 amount)",
			"bool success", nil).results(transferFrom).limited(3),
		writes(approvePrice, "setApprovalForAll(address operator,bool approved)", "", setApprovalForAll),
		writes(associatePrice, "associate()", responseCode, associate),
		writes(associatePrice, "dissociate()", responseCode, dissociate),
		writes(tokenPrice, "cancelAirdropFT(address receiverAddress)", responseCode, settleOwnAirdrop),
		writes(tokenPrice, "cancelAirdropNFT(address receiverAddress,int64 serialNumber)",
			responseCode, settleOwnAirdrop),
		writes(tokenPrice, "claimAirdropFT(address senderAddress)", responseCode, settleOwnAirdrop).set(),
		writes(tokenPrice, "claimAirdropNFT(address senderAddress,int64 serialNumber)",
			responseCode, settleOwnAirdrop).set(),
		writes(tokenPrice, "rejectTokenFT()", responseCode, rejectOwn),
		writes(tokenPrice, "rejectTokenNFTs(int64[] serialNumbers)", responseCode, rejectOwnSerials),
	}
}

// priceOfToken returns the price in tinycents of transferring the called token, or that in the first argument, and of
// the accounts that the transfer creates. It can read the token and the accounts.
func priceOfToken(c *call, in []any) int64 {
	tokens := in[:1]
	if c.redirect {
		tokens = []any{c.entity}
	}
	return c.priceOfTokens(tokens) + c.priceOfAccounts(in)
}

// priceOfTransfer returns the price in tinycents of cryptoTransfer, including the accounts that it creates. It can
// read the tokens and accounts.
func priceOfTransfer(c *call, in []any) int64 {
	moved := abi.List(in[len(in)-1])
	if len(moved) == 0 {
		return hbarPrice + c.priceOfAccounts(in)
	}
	return c.priceOfTokens(list.Map(moved, func(v any) any { return abi.List(v)[0] })) + c.priceOfAccounts(in)
}

// priceOfAirdrop returns the price in tinycents of an airdrop, with the accounts that it creates, which it can read.
func priceOfAirdrop(c *call, in []any) int64 { return airdropPrice + c.priceOfAccounts(in) }

// priceOfAssociations returns the price in tinycents of the associations of an account with the tokens in the
// second argument. A single token costs as much as a list of one.
func priceOfAssociations(_ *call, in []any) int64 {
	return associatePrice * int64(max(len(abi.List(in[1])), 1))
}

// priceOfTokens returns the price in tinycents of transferring the tokens at some addresses: more if one of them
// has custom fees. It can read the tokens from the ledger.
func (c *call) priceOfTokens(tokens []any) int64 {
	for _, v := range tokens {
		if t := c.facts.token(v.(common.Address)); t != nil && t.hasFees() {
			return feePrice
		}
	}
	return tokenPrice
}

// priceOfAccounts returns the price in tinycents of the accounts that a transfer with these arguments creates. It
// creates none, but can read the ledger.
func (c *call) priceOfAccounts(in []any) int64 {
	created := map[common.Address]bool{}
	c.eachAddress(in, func(a common.Address) {
		if c.createsAccount(a) {
			created[a] = true
		}
	})
	return accountPrice * int64(len(created))
}

// eachAddress calls visit with each address in the arguments, at any depth.
func (c *call) eachAddress(v any, visit func(common.Address)) {
	switch v := v.(type) {
	case common.Address:
		visit(v)
	case []any:
		for _, part := range v {
			c.eachAddress(part, visit)
		}
	}
}

// priceOfMint returns the price in tinycents of minting units, or as many serials as there are metadata in the
// third argument.
func priceOfMint(_ *call, in []any) int64 {
	if n := len(abi.List(in[2])); n > 0 {
		return serialPrice * int64(n)
	}
	return tokenPrice
}

// tokenCreations returns the functions of the token service that create a token. They charge the value of the call.
func tokenCreations() []*function {
	const (
		units, serials = ledger.TokenFungibleCommon, ledger.TokenNonFungibleUnique
		supply         = " token,int64 initialTotalSupply,int32 decimals"
		oldSupply      = " token,uint256 initialTotalSupply,uint256 decimals"
		newerSupply    = " token,uint64 initialTotalSupply,uint32 decimals"
		fees, oldFees  = "," + fixedFee + ",", "," + oldFixedFee + ","
	)
	return []*function{
		creates(units, "createFungibleToken("+hederaToken+supply+")"),
		creates(units, "createFungibleTokenWithCustomFees("+hederaToken+supply+fees+fractional+")"),
		creates(serials, "createNonFungibleToken("+hederaToken+" token)"),
		creates(serials, "createNonFungibleTokenWithCustomFees("+hederaToken+" token"+fees+royaltyFee+")"),
		creates(units, "createFungibleToken("+oldToken+oldSupply+")"),
		creates(units, "createFungibleToken("+newerToken+newerSupply+")"),
		creates(units, "createFungibleTokenWithCustomFees("+oldToken+oldSupply+oldFees+oldFractionalFee+")"),
		creates(units, "createFungibleTokenWithCustomFees("+newerToken+newerSupply+oldFees+oldFractionalFee+")"),
		creates(serials, "createNonFungibleToken("+oldToken+" token)"),
		creates(serials, "createNonFungibleToken("+newerToken+" token)"),
		creates(serials, "createNonFungibleTokenWithCustomFees("+oldToken+" token"+oldFees+oldRoyaltyFee+")"),
		creates(serials, "createNonFungibleTokenWithCustomFees("+newerToken+" token"+oldFees+oldRoyaltyFee+")"),
	}
}

// creates returns the row of a function that creates a token of a type: it accepts value and has a constant gas.
func creates(kind ledger.TokenType, signature string) *function {
	return &function{
		signature: signature, returns: responseCode + ",address tokenAddress", kind: write, payable: true,
		gas: creationGas, of: kind, run: createToken,
	}
}

// approve implements approve(spender, amount or serial) at the address of a token, in the simulation. For units it
// returns true, for a serial nothing. It fails as [call.approveUnits] and [call.approveSerial] do.
func approve(c *call, in []any) ([]any, error) {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return nil, err
	}
	if t.Type == ledger.TokenNonFungibleUnique {
		return c.approveSerial(t, rest[0].(common.Address), rest[1].(*big.Int))
	}
	return c.approveUnits(t, rest[0].(common.Address), rest[1])
}

// approveOf implements approve(token, spender, amount) and approveNFT(token, approved, serial) in the simulation. It
// fails if the token has the other type.
func approveOf(c *call, in []any) ([]any, error) {
	t, _, err := c.activeToken(in)
	if err != nil {
		return nil, err
	}
	err = firstOf(
		refuse(t.Type != c.f.of && t.Type == ledger.TokenNonFungibleUnique, codes.NFTInFungibleTokenAllowances),
		refuse(t.Type != c.f.of, codes.FungibleTokenInNFTAllowances),
	)
	if err != nil {
		return nil, err
	}
	return approve(c, in)
}

// approveUnits sets the allowance of a spender for units of the caller in the simulation, emits a log, and returns
// true. It fails if the caller is not associated with the token.
func (c *call) approveUnits(t *token, at common.Address, units any) ([]any, error) {
	owner := c.caller()
	amount, _ := amountOf(units)
	spender, err := c.existingParty(at, codes.InvalidAllowanceSpenderID)
	if err != nil {
		return nil, err
	}
	err = firstOf(
		refuse(owner == spender, codes.SpenderAccountSameAsOwner),
		refuse(t.SupplyType == ledger.SupplyFinite && amount > t.MaxSupply, codes.AmountExceedsTokenMaxSupply),
		refuse(!c.facts.relation(owner, t).associated, codes.TokenNotAssociatedToAccount),
	)
	if err != nil {
		return nil, err
	}
	evm.Set(c.State, c.facts.allowance(owner, spender, t.EntityID), amount)
	c.log(t, "Approval(address,address,uint256)", []common.Hash{topic(c.Caller), topic(at)}, word(amount))
	return []any{true}, nil
}

// approveSerial lets a spender transfer one serial, in the simulation, and emits a log. The caller must be the owner
// or an operator. The zero address clears the approval. There are no results.
func (c *call) approveSerial(t *token, at common.Address, serial *big.Int) ([]any, error) {
	n, err := c.existingSerial(t, serialOf(serial), codes.InvalidTokenNFTSerialNumber)
	if err != nil {
		return nil, err
	}
	owner, by := t.ownerOf(n), c.caller()
	err = refuse(by != owner && !*c.facts.operator(owner, by, t), codes.DelegatingSpenderDoesNotHaveApproveForAll)
	if err != nil {
		return nil, err
	}
	var spender ledger.EntityID
	if at != (common.Address{}) {
		spender, err = c.existingParty(at, codes.InvalidAllowanceSpenderID)
		if err != nil {
			return nil, err
		}
		err = refuse(spender == owner, codes.SpenderAccountSameAsOwner)
		if err != nil {
			return nil, err
		}
	}
	evm.Set(c.State, &n.spender, spender)
	topics := []common.Hash{topic(c.facts.address(owner)), topic(at), topic(serial)}
	c.log(t, "Approval(address,address,uint256)", topics, nil)
	return nil, nil
}

// setApprovalForAll lets an operator transfer all serials of the caller, or revokes that, in the simulation, and
// emits a log. It fails for a fungible token, and if the caller is not associated with the token.
func setApprovalForAll(c *call, in []any) error {
	t, rest, err := c.activeToken(in)
	if err != nil {
		return err
	}
	owner, at, all := c.caller(), rest[0].(common.Address), rest[1].(bool)
	err = refuse(t.Type != ledger.TokenNonFungibleUnique, codes.FungibleTokenInNFTAllowances)
	if err != nil {
		return err
	}
	operator, err := c.existingParty(at, codes.InvalidAllowanceSpenderID)
	if err != nil {
		return err
	}
	err = firstOf(
		refuse(owner == operator, codes.SpenderAccountSameAsOwner),
		refuse(!c.facts.relation(owner, t).associated, codes.TokenNotAssociatedToAccount),
	)
	if err != nil {
		return err
	}
	evm.Set(c.State, c.facts.operator(owner, operator, t), all)
	word := abi.Word(all)
	c.log(t, "ApprovalForAll(address,address,bool)", []common.Hash{topic(c.Caller), topic(at)}, word[:])
	return nil
}
