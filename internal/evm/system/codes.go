package system

import "heliograph/internal/ledger"

// The response codes of the contracts.
const (
	success                       ledger.ResponseCode = 22
	invalidAccountID              ledger.ResponseCode = 15
	recordNotFound                ledger.ResponseCode = 19
	insufficientAccountBalance    ledger.ResponseCode = 28
	invalidSolidityAddress        ledger.ResponseCode = 29
	keyNotProvided                ledger.ResponseCode = 44
	invalidAccountAmounts         ledger.ResponseCode = 48
	invalidTransactionBody        ledger.ResponseCode = 50
	invalidSignatureType          ledger.ResponseCode = 51
	accountFrozen                 ledger.ResponseCode = 165
	invalidTokenID                ledger.ResponseCode = 167
	hasNoFreezeKey                ledger.ResponseCode = 172
	transfersNotZeroSum           ledger.ResponseCode = 173
	kycNotGranted                 ledger.ResponseCode = 176
	hasNoKYCKey                   ledger.ResponseCode = 177
	insufficientTokenBalance      ledger.ResponseCode = 178
	tokenWasDeleted               ledger.ResponseCode = 179
	hasNoSupplyKey                ledger.ResponseCode = 180
	hasNoWipeKey                  ledger.ResponseCode = 181
	invalidMintAmount             ledger.ResponseCode = 182
	invalidBurnAmount             ledger.ResponseCode = 183
	notAssociated                 ledger.ResponseCode = 184
	cannotWipeTreasury            ledger.ResponseCode = 185
	invalidWipingAmount           ledger.ResponseCode = 192
	tokenIsImmutable              ledger.ResponseCode = 193
	alreadyAssociated             ledger.ResponseCode = 194
	requiresZeroBalances          ledger.ResponseCode = 195
	accountIsTreasury             ledger.ResponseCode = 196
	tokenRepeated                 ledger.ResponseCode = 197
	invalidScheduleID             ledger.ResponseCode = 201
	invalidSerial                 ledger.ResponseCode = 225
	invalidNFTID                  ledger.ResponseCode = 226
	metadataTooLong               ledger.ResponseCode = 227
	batchTooLarge                 ledger.ResponseCode = 228
	maxSupplyReached              ledger.ResponseCode = 236
	doesNotOwnSerial              ledger.ResponseCode = 237
	invalidMintMetadata           ledger.ResponseCode = 248
	stillOwnsNFTs                 ledger.ResponseCode = 251
	treasuryMustOwnBurned         ledger.ResponseCode = 252
	doesNotOwnWiped               ledger.ResponseCode = 253
	amountsOnlyForFungible        ledger.ResponseCode = 254
	feesTooDeep                   ledger.ResponseCode = 257
	cannotPayFee                  ledger.ResponseCode = 259
	noAutomaticAssociations       ledger.ResponseCode = 262
	tokenIsPaused                 ledger.ResponseCode = 265
	hasNoPauseKey                 ledger.ResponseCode = 266
	spenderSameAsOwner            ledger.ResponseCode = 288
	amountExceedsMaxSupply        ledger.ResponseCode = 289
	negativeAllowance             ledger.ResponseCode = 290
	spenderHasNoAllowance         ledger.ResponseCode = 292
	exceedsAllowance              ledger.ResponseCode = 293
	fungibleInNFTAllowances       ledger.ResponseCode = 298
	nftInFungibleAllowances       ledger.ResponseCode = 299
	invalidAllowanceOwner         ledger.ResponseCode = 300
	invalidAllowanceSpender       ledger.ResponseCode = 301
	delegatingSpenderNotPermitted ledger.ResponseCode = 305
)
