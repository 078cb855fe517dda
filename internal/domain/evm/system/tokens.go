package system

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/evm/worldstate"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/ledger/codes"
)

// Tuples of functions that write.
const (
	moves            = "(address,int64)[]"
	serialMoves      = "(address,address,int64)[]"
	tokenMoves       = "(address," + moves + "," + serialMoves + ")[]"
	allowedMoves     = "(address,int64,bool)[]"
	allowedSerials   = "(address,address,int64,bool)[]"
	allowedTokens    = "(address," + allowedMoves + "," + allowedSerials + ")[]"
	pendingAirdrops  = "(address,address,address,int64)[]"
	oldExpiry        = "(uint32,address,uint32)"
	oldToken         = "(string,string,address,string,bool,uint32,bool," + tokenKey + "[]," + oldExpiry + ")"
	newerToken       = "(string,string,address,string,bool,int64,bool," + tokenKey + "[]," + oldExpiry + ")"
	oldFixedFee      = "(uint32,address,bool,bool,address)"
	oldFractionalFee = "(uint32,uint32,uint32,uint32,bool,address)"
	oldRoyaltyFee    = "(uint32,uint32,uint32,address,bool,address)"
)

func tokenFunctions() []*function {
	return slices.Concat(tokenReads(), tokenWrites(), tokenCreations())
}

// secondTokenFunctions returns the functions of the second interface: the newest forms of those of the first, for tokens with metadata.
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

func tokenWrites() []*function {
	change := func(signature, returns string, run func(*call, []any) evm.Outcome) *function {
		return &function{signature: signature, returns: returns, kind: write, tinycents: tokenPrice, run: run}
	}
	priced := func(f *function, price func(*call, []any) int64) *function {
		f.price = price
		return f
	}
	approving := func(f *function) *function {
		f.tinycents = approvePrice
		return f
	}
	ofFirst := withAccounts(priceOfToken(func(in []any) []any { return in[:1] }))
	// A single token costs as much as a list of one.
	perToken := func(_ *call, in []any) int64 { return associatePrice * int64(max(len(abi.List(in[1])), 1)) }
	units, serials := ledger.TokenFungibleCommon, ledger.TokenNonFungibleUnique
	later := func(f *function) *function {
		f.scheduled = true
		return f
	}
	frozen := func(to bool) func(*call, []any) evm.Outcome {
		return withCode(setStatus(worldstate.FreezeKey, func(r *relation) { r.frozen = to }))
	}
	known := func(to bool) func(*call, []any) evm.Outcome {
		return withCode(setStatus(worldstate.KYCKey, func(r *relation) { r.kyc = to }))
	}
	return []*function{
		priced(change("cryptoTransfer("+tokenMoves+")", "int64", withCode(cryptoTransfer)), withAccounts(priceOfTransfer)),
		priced(change("cryptoTransfer(("+allowedMoves+"),"+allowedTokens+")", "int64", withCode(cryptoTransfer)), withAccounts(priceOfTransfer)),
		priced(change("transferTokens(address,address[],int64[])", "int64", withCode(sends(amounts))), ofFirst),
		priced(change("transferToken(address,address,address,int64)", "int64", withCode(sends(oneAmount))), ofFirst),
		priced(change("transferNFTs(address,address[],address[],int64[])", "int64", withCode(sends(manySerials))), ofFirst),
		priced(change("transferNFT(address,address,address,int64)", "int64", withCode(sends(oneSerial))), ofFirst),
		priced(change("transferFrom(address,address,address,uint256)", "int64", bounded(3, withCode(takenOf(ledger.TokenFungibleCommon)))), ofFirst),
		priced(change("transferFromNFT(address,address,address,uint256)", "int64", bounded(3, withCode(takenOf(ledger.TokenNonFungibleUnique)))), ofFirst),
		approving(change("approve(address,address,uint256)", "int64,bool", bounded(2, withCode(approveOf(units, codes.NFTInFungibleTokenAllowances))))),
		approving(change("approveNFT(address,address,uint256)", "int64", withCode(approveOf(serials, codes.FungibleTokenInNFTAllowances)))),
		approving(change("setApprovalForAll(address,address,bool)", "int64", withCode(setApprovalForAll))),
		priced(change("mintToken(address,uint64,bytes[])", "int64,uint64,int64[]", bounded(1, withCode(mint))), priceOfMint),
		priced(change("mintToken(address,int64,bytes[])", "int64,int64,int64[]", withCode(mint)), priceOfMint),
		change("burnToken(address,uint64,int64[])", "int64,uint64", bounded(1, withCode(burn))),
		change("burnToken(address,int64,int64[])", "int64,int64", withCode(burn)),
		priced(change("associateToken(address,address)", "int64", withCode(one(associate))), perToken),
		priced(change("associateTokens(address,address[])", "int64", withCode(many(associate))), perToken),
		priced(change("dissociateToken(address,address)", "int64", withCode(one(dissociate))), perToken),
		priced(change("dissociateTokens(address,address[])", "int64", withCode(many(dissociate))), perToken),
		change("freezeToken(address,address)", "int64", frozen(true)),
		change("unfreezeToken(address,address)", "int64", frozen(false)),
		change("grantTokenKyc(address,address)", "int64", known(true)),
		change("revokeTokenKyc(address,address)", "int64", known(false)),
		change("pauseToken(address)", "int64", withCode(setPause(ledger.PausePaused))),
		change("unpauseToken(address)", "int64", withCode(setPause(ledger.PauseUnpaused))),
		change("deleteToken(address)", "int64", withCode(deleteToken())),
		change("wipeTokenAccount(address,address,uint32)", "int64", withCode(wipeUnits)),
		change("wipeTokenAccount(address,address,int64)", "int64", withCode(wipeUnits)),
		change("wipeTokenAccountNFT(address,address,int64[])", "int64", withCode(wipeSerials)),
		later(change("updateTokenInfo(address,"+hederaToken+")", "int64", withCode(administered(never, updateInfo)))),
		later(change("updateTokenInfo(address,"+oldToken+")", "int64", withCode(administered(never, updateInfo)))),
		later(change("updateTokenInfo(address,"+newerToken+")", "int64", withCode(administered(never, updateInfo)))),
		later(change("updateTokenExpiryInfo(address,"+expiry+")", "int64", withCode(administered(onlyLater, updateExpiry)))),
		later(change("updateTokenExpiryInfo(address,"+oldExpiry+")", "int64", withCode(administered(onlyLater, updateExpiry)))),
		later(change("updateTokenKeys(address,"+tokenKey+"[])", "int64", withCode(administered(hasOtherKeys, updateKeys)))),
		change("updateFungibleTokenCustomFees(address,"+fixedFee+"[],"+fractional+"[])", "int64", withCode(updateFees(ledger.TokenFungibleCommon))),
		change("updateNonFungibleTokenCustomFees(address,"+fixedFee+"[],"+royaltyFee+"[])", "int64", withCode(updateFees(ledger.TokenNonFungibleUnique))),
		change("updateNFTsMetadata(address,int64[],bytes)", "int64", withCode(updateMetadata)),
		priced(change("airdropTokens("+allowedTokens+")", "int64", withCode(airdropTokens)), withAccounts(func(*call, []any) int64 { return airdropPrice })),
		change("cancelAirdrops("+pendingAirdrops+")", "int64", withCode(onAirdrops(cancelAirdrop))),
		change("claimAirdrops("+pendingAirdrops+")", "int64", withCode(onAirdrops(claimAirdrop))),
		change("rejectTokens(address,address[],(address,int64)[])", "int64", withCode(rejectTokens)),
	}
}

func facadeWrites() []*function {
	price := withAccounts(priceOfToken(func([]any) []any { return nil }))
	usual := func(signature string, do operation) *function {
		return &function{signature: signature, returns: "int64", kind: write, tinycents: tokenPrice, run: withCode(do)}
	}
	return []*function{
		{signature: "approve(address,uint256)", returns: "bool", kind: write, tinycents: approvePrice, run: bounded(1, approval)},
		{signature: "transfer(address,uint256)", returns: "bool", kind: write, price: price, run: onlyUnits(announced(ofCaller))},
		{signature: "transferFrom(address,address,uint256)", returns: "bool", kind: write, price: price, run: announced(itself)},
		{signature: "setApprovalForAll(address,bool)", kind: write, tinycents: approvePrice, run: orRevert(setApprovalForAll)},
		{signature: "associate()", returns: "int64", kind: write, tinycents: associatePrice, run: withCode(ofItself(associate))},
		{signature: "dissociate()", returns: "int64", kind: write, tinycents: associatePrice, run: withCode(ofItself(dissociate))},
		usual("cancelAirdropFT(address)", onOwnAirdrop(true, cancelAirdrop)),
		usual("cancelAirdropNFT(address,int64)", onOwnAirdrop(true, cancelAirdrop)),
		usual("claimAirdropFT(address)", onOwnAirdrop(false, claimAirdrop)),
		usual("claimAirdropNFT(address,int64)", onOwnAirdrop(false, claimAirdrop)),
		usual("rejectTokenFT()", rejectOwn),
		usual("rejectTokenNFTs(int64[])", rejectOwnSerials),
	}
}

// priceOfToken returns the price of transferring the tokens in some of the arguments, or the called token.
func priceOfToken(named func(in []any) []any) func(*call, []any) int64 {
	return func(c *call, in []any) int64 {
		tokens := named(in)
		if c.redirect {
			tokens = []any{c.entity}
		}
		for _, v := range tokens {
			if t := c.facts.token(v.(common.Address)); t != nil {
				if t.hasFees() {
					return feePrice
				}
			}
		}
		return tokenPrice
	}
}

func priceOfTransfer(c *call, in []any) int64 {
	moved := abi.List(in[len(in)-1])
	if len(moved) == 0 {
		return hbarPrice
	}
	return priceOfToken(func([]any) []any {
		return list.Map(moved, func(v any) any { return abi.List(v)[0] })
	})(c, in)
}

// withAccounts adds to a price the price of the accounts that the call creates.
func withAccounts(price func(*call, []any) int64) func(*call, []any) int64 {
	return func(c *call, in []any) int64 {
		come := map[common.Address]bool{}
		c.eachAddress(in, func(a common.Address) {
			if c.createsAccount(a) {
				come[a] = true
			}
		})
		return price(c, in) + accountPrice*int64(len(come))
	}
}

// eachAddress visits the addresses in arguments.
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

// priceOfMint returns the price of minting units, or each serial.
func priceOfMint(_ *call, in []any) int64 {
	if n := len(abi.List(in[2])); n > 0 {
		return serialPrice * int64(n)
	}
	return tokenPrice
}

// tokenCreations returns the functions of the token service that create a token. They charge the value of the call.
func tokenCreations() []*function {
	of := func(kind ledger.TokenType, signature string) *function {
		return &function{
			signature: signature, returns: "int64,address", kind: write, payable: true, gas: creationGas, creates: kind, scheduled: true, run: creating(kind),
		}
	}
	units, serials := ledger.TokenFungibleCommon, ledger.TokenNonFungibleUnique
	return []*function{
		of(units, "createFungibleToken("+hederaToken+",int64,int32)"),
		of(units, "createFungibleTokenWithCustomFees("+hederaToken+",int64,int32,"+fixedFee+"[],"+fractional+"[])"),
		of(serials, "createNonFungibleToken("+hederaToken+")"),
		of(serials, "createNonFungibleTokenWithCustomFees("+hederaToken+","+fixedFee+"[],"+royaltyFee+"[])"),
		of(units, "createFungibleToken("+oldToken+",uint256,uint256)"),
		of(units, "createFungibleToken("+newerToken+",uint64,uint32)"),
		of(units, "createFungibleTokenWithCustomFees("+oldToken+",uint256,uint256,"+oldFixedFee+"[],"+oldFractionalFee+"[])"),
		of(units, "createFungibleTokenWithCustomFees("+newerToken+",uint64,uint32,"+oldFixedFee+"[],"+oldFractionalFee+"[])"),
		of(serials, "createNonFungibleToken("+oldToken+")"),
		of(serials, "createNonFungibleToken("+newerToken+")"),
		of(serials, "createNonFungibleTokenWithCustomFees("+oldToken+","+oldFixedFee+"[],"+oldRoyaltyFee+"[])"),
		of(serials, "createNonFungibleTokenWithCustomFees("+newerToken+","+oldFixedFee+"[],"+oldRoyaltyFee+"[])"),
	}
}

// approve lets a spender transfer units of the caller, or one serial. For NFTs the number is the serial, and the zero address clears the approval.
func approve(c *call, in []any) []any {
	t, rest := c.activeToken(in)
	if t.Type == ledger.TokenNonFungibleUnique {
		return approveSerial(c, t, rest[0].(common.Address), rest[1].(*big.Int))
	}
	owner, at := c.caller(), rest[0].(common.Address)
	amount, _ := amountOf(rest[1])
	spender, ok := c.facts.party(at)
	failIf(!ok, codes.InvalidAllowanceSpenderID)
	failIf(owner == spender, codes.SpenderAccountSameAsOwner)
	failIf(t.SupplyType == ledger.SupplyFinite && amount > t.MaxSupply, codes.AmountExceedsTokenMaxSupply)
	failIf(!c.facts.relation(owner, t).associated, codes.TokenNotAssociatedToAccount)
	change(c.facts, c.facts.allowance(owner, spender, t), amount)
	c.log(t, "Approval(address,address,uint256)", []common.Hash{topic(c.Caller), topic(at)}, word(amount))
	return []any{true}
}

func approveSerial(c *call, t *token, at common.Address, serial *big.Int) []any {
	n := c.facts.nft(t, serialOf(serial))
	failIf(n == nil, codes.InvalidTokenNFTSerialNumber)
	owner, by := c.facts.owner(t, n), c.caller()
	failIf(by != owner && !*c.facts.operator(owner, by, t), codes.DelegatingSpenderDoesNotHaveApproveForAll)
	var spender party
	if at != (common.Address{}) {
		var ok bool
		spender, ok = c.facts.party(at)
		failIf(!ok, codes.InvalidAllowanceSpenderID)
		failIf(spender == owner, codes.SpenderAccountSameAsOwner)
	}
	change(c.facts, &n.spender, spender)
	c.log(t, "Approval(address,address,uint256)", []common.Hash{topic(c.facts.address(owner)), topic(at), topic(serial)}, nil)
	return nil
}

// approveOf is the operation of approve for tokens of one type. Other tokens fail with a code.
func approveOf(kind ledger.TokenType, otherwise ledger.ResponseCode) operation {
	return func(c *call, in []any) []any {
		t, _ := c.activeToken(in)
		failIf(t.Type != kind, otherwise)
		return approve(c, in)
	}
}

// setApprovalForAll lets an operator transfer all serials of the caller, or revokes that.
func setApprovalForAll(c *call, in []any) []any {
	t, rest := c.activeToken(in)
	owner, at, all := c.caller(), rest[0].(common.Address), rest[1].(bool)
	operator, ok := c.facts.party(at)
	failIf(t.Type != ledger.TokenNonFungibleUnique, codes.FungibleTokenInNFTAllowances)
	failIf(!ok, codes.InvalidAllowanceSpenderID)
	failIf(owner == operator, codes.SpenderAccountSameAsOwner)
	failIf(!c.facts.relation(owner, t).associated, codes.TokenNotAssociatedToAccount)
	change(c.facts, c.facts.operator(owner, operator, t), all)
	word := abi.Word(all)
	c.log(t, "ApprovalForAll(address,address,bool)", []common.Hash{topic(c.Caller), topic(at)}, word[:])
	return nil
}

// bounded makes a function halt if an argument exceeds the range of amounts, as for invalid input.
func bounded(at int, run func(*call, []any) evm.Outcome) func(*call, []any) evm.Outcome {
	return func(c *call, in []any) evm.Outcome {
		tooLarge := false
		switch n := in[at].(type) {
		case *big.Int:
			tooLarge = !n.IsInt64()
		case uint64:
			tooLarge = n > math.MaxInt64
		}
		if tooLarge {
			return evm.Halt(codes.ContractExecutionException)
		}
		return run(c, in)
	}
}

// approval approves at the address of a token. For units it returns true, for a serial nothing.
func approval(c *call, in []any) evm.Outcome {
	code, values := c.do(approve, in)
	switch {
	case code != codes.Success:
		return c.reverts(code)
	case values == nil:
		return evm.Return(c.gas(), nil)
	}
	return c.returns(values...)
}
