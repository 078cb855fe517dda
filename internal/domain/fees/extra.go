package fees

import "strconv"

// Extra is a unit that a fee schedule prices. The values are those of the network's messages.
type Extra uint8

// The extras that transactions are charged for. A schedule may price others.
const (
	Signatures                                  Extra = 0
	Keys                                        Extra = 1
	Accounts                                    Extra = 3
	TokenTypes                                  Extra = 4
	Gas                                         Extra = 5
	Allowances                                  Extra = 6
	HookUpdates                                 Extra = 8
	TokenTransferBase                           Extra = 9
	TokenTransferBaseCustomFees                 Extra = 10
	HookExecution                               Extra = 11
	TokenCreateWithCustomFee                    Extra = 12
	TokenMintNFT                                Extra = 13
	ConsensusCreateTopicWithCustomFee           Extra = 14
	ConsensusSubmitMessageWithCustomFee         Extra = 15
	ScheduleCreateContractCallBase              Extra = 16
	TokenAssociate                              Extra = 17
	HookSlotUpdate                              Extra = 18
	TokenMintNFTBase                            Extra = 19
	NFTUpdate                                   Extra = 20
	StateBytes                                  Extra = 22
	ProcessingBytes                             Extra = 23
	ConsensusSubmitMessageWithCustomFeeBytes    Extra = 24
	ConsensusSubmitMessageWithoutCustomFeeBytes Extra = 25
	extras                                            = 26     // number of extras
	AccountCreations                            Extra = extras // not in schedules: see [Schedule.Estimate]
)

// names returns the network's name of an extra, and a description of its unit.
func names(e Extra) (name, piece string) {
	all := [...][2]string{
		{"SIGNATURES", "signature"},
		{"KEYS", "key"},
		{"NFT_SERIALS", "NFT"},
		{"ACCOUNTS", "account whose balance changes"},
		{"TOKEN_TYPES", "entry of a token's transfers"},
		{"GAS", "unit of gas"},
		{"ALLOWANCES", "allowance"},
		{"AIRDROPS", "airdrop"},
		{"HOOK_UPDATES", "hook created or deleted"},
		{"TOKEN_TRANSFER_BASE", "transfer of tokens"},
		{"TOKEN_TRANSFER_BASE_CUSTOM_FEES", "transfer of tokens with custom fees"},
		{"HOOK_EXECUTION", "call of a hook"},
		{"TOKEN_CREATE_WITH_CUSTOM_FEE", "token created with custom fees or a key for them"},
		{"TOKEN_MINT_NFT", "NFT minted"},
		{"CONSENSUS_CREATE_TOPIC_WITH_CUSTOM_FEE", "topic created with custom fees"},
		{"CONSENSUS_SUBMIT_MESSAGE_WITH_CUSTOM_FEE", "message to a topic with custom fees"},
		{"SCHEDULE_CREATE_CONTRACT_CALL_BASE", "contract call scheduled"},
		{"TOKEN_ASSOCIATE", "token associated"},
		{"HOOK_SLOT_UPDATE", "slot of a hook's storage written"},
		{"TOKEN_MINT_NFT_BASE", "minting of NFTs"},
		{"NFT_UPDATE", "NFT updated"},
		{"RECORDS", "record"},
		{"STATE_BYTES", "byte kept in state"},
		{"PROCESSING_BYTES", "byte of the transaction"},
		{"CONSENSUS_SUBMIT_MESSAGE_WITH_CUSTOM_FEE_BYTES", "byte of the message"},
		{"CONSENSUS_SUBMIT_MESSAGE_WITHOUT_CUSTOM_FEE_BYTES", "byte of the message"},
		{"ACCOUNT_CREATIONS", "account created for an alias"},
	}
	if int(e) >= len(all) {
		return strconv.Itoa(int(e)), "piece"
	}
	return all[e][0], all[e][1]
}

// String returns the network's name of the extra.
func (e Extra) String() string {
	name, _ := names(e)
	return name
}

// Charge is the price of units of an extra.
type Charge struct {
	Extra Extra
	// Count is the number of units in the transaction, Included the number in the base fee, and Charged the rest.
	Count, Included, Charged int64
	// FeePerUnit is the price of a unit, and Subtotal that of the charged units, in tinycents.
	FeePerUnit, Subtotal int64
}

// Name returns the network's name of the extra.
func (c *Charge) Name() string { return c.Extra.String() }

// Explanation describes why the extra is charged.
func (c *Charge) Explanation() string {
	_, piece := names(c.Extra)
	b := make([]byte, 0, 160)
	b = strconv.AppendInt(b, c.Count, 10)
	b = append(append(b, " × "...), piece...)
	b = append(b, "; "...)
	if c.Included > 0 {
		b = append(strconv.AppendInt(append(b, "the base fee covers "...), c.Included, 10), ", "...)
	}
	b = strconv.AppendInt(b, c.Charged, 10)
	b = append(b, " charged at "...)
	b = strconv.AppendInt(b, c.FeePerUnit, 10)
	return string(append(b, " tinycents each."...))
}
