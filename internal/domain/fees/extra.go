package fees

import (
	"strconv"

	"heliograph/internal/domain/fees/feepb"
)

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

// String returns the network's name of the extra.
func (e Extra) String() string {
	if e == AccountCreations {
		return "ACCOUNT_CREATIONS"
	}
	return feepb.Extra(e).String()
}

func (e Extra) unit() string {
	units := [...]string{
		"signature", "key", "NFT", "account whose balance changes", "entry of a token's transfers", "unit of gas", "allowance", "airdrop",
		"hook created or deleted", "transfer of tokens", "transfer of tokens with custom fees", "call of a hook",
		"token created with custom fees or a key for them", "NFT minted", "topic created with custom fees", "message to a topic with custom fees",
		"contract call scheduled", "token associated", "slot of a hook's storage written", "minting of NFTs", "NFT updated", "record", "byte kept in state",
		"byte of the transaction", "byte of the message", "byte of the message", "account created for an alias",
	}
	if int(e) >= len(units) {
		return "piece"
	}
	return units[e]
}

// Name returns the network's name of the extra.
func (c *Charge) Name() string { return c.Extra.String() }

// Explanation describes why the extra is charged.
func (c *Charge) Explanation() string {
	b := make([]byte, 0, 160)
	b = strconv.AppendInt(b, c.Count, 10)
	b = append(append(b, " × "...), c.Extra.unit()...)
	b = append(b, "; "...)
	if c.Included > 0 {
		b = append(strconv.AppendInt(append(b, "the base fee covers "...), c.Included, 10), ", "...)
	}
	b = strconv.AppendInt(b, c.Charged, 10)
	b = append(b, " charged at "...)
	b = strconv.AppendInt(b, c.FeePerUnit, 10)
	return string(append(b, " tinycents each."...))
}
