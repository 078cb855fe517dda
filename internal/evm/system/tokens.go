package system

import "slices"

// Tuples of functions that change tokens.
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

// tokenFunctions are the functions of the token service.
func tokenFunctions() []*function {
	return slices.Concat(tokenReads(), tokenMissing())
}

// tokenFacade are the functions of a token's address.
func tokenFacade() []*function {
	return slices.Concat(facadeReads())
}

// tokenMissing are functions of the token service that are not there yet.
func tokenMissing() []*function {
	return absent(
		[]string{
			"createFungibleToken(" + hederaToken + ",int64,int32)",
			"createFungibleTokenWithCustomFees(" + hederaToken + ",int64,int32," + fixedFee + "[]," + fractional + "[])",
			"createNonFungibleToken(" + hederaToken + ")",
			"createNonFungibleTokenWithCustomFees(" + hederaToken + "," + fixedFee + "[]," + royaltyFee + "[])",
			"createFungibleToken(" + oldToken + ",uint256,uint256)", "createFungibleToken(" + newerToken + ",uint64,uint32)",
			"createFungibleTokenWithCustomFees(" + oldToken + ",uint256,uint256," + oldFixedFee + "[]," + oldFractionalFee + "[])",
			"createFungibleTokenWithCustomFees(" + newerToken + ",uint64,uint32," + oldFixedFee + "[]," + oldFractionalFee + "[])",
			"createNonFungibleToken(" + oldToken + ")", "createNonFungibleToken(" + newerToken + ")",
			"createNonFungibleTokenWithCustomFees(" + oldToken + "," + oldFixedFee + "[]," + oldRoyaltyFee + "[])",
			"createNonFungibleTokenWithCustomFees(" + newerToken + "," + oldFixedFee + "[]," + oldRoyaltyFee + "[])",
		},
		[]string{
			"updateTokenInfo(address," + hederaToken + ")", "updateTokenInfo(address," + oldToken + ")", "updateTokenInfo(address," + newerToken + ")",
			"updateTokenExpiryInfo(address," + expiry + ")", "updateTokenExpiryInfo(address," + oldExpiry + ")",
			"updateTokenKeys(address," + tokenKey + "[])",
			"updateFungibleTokenCustomFees(address," + fixedFee + "[]," + fractional + "[])",
			"updateNonFungibleTokenCustomFees(address," + fixedFee + "[]," + royaltyFee + "[])",
			"updateNFTsMetadata(address,int64[],bytes)", "airdropTokens(" + allowedTokens + ")",
			"cancelAirdrops(" + pendingAirdrops + ")", "claimAirdrops(" + pendingAirdrops + ")",
			"rejectTokens(address,address[],(address,int64)[])",
		},
	)
}

// absent are functions that change something and are not there: those that take value, and the others.
func absent(payable, others []string) []*function {
	var out []*function
	for _, signature := range payable {
		out = append(out, &function{signature: signature, kind: missingW, payable: true})
	}
	for _, signature := range others {
		out = append(out, &function{signature: signature, kind: missingW})
	}
	return out
}
