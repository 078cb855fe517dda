package fees

import (
	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"

	"heliograph/internal/domain/fees/feepb"
	"heliograph/internal/domain/ledger"
)

// Numbers of the system files, whose updates are free.
const (
	firstSystemFile = 1
	lastSystemFile  = 750
)

// functionOf returns the type of a transaction, NONE if the body has no transaction or one of an unknown type.
func functionOf(body *services.TransactionBody) services.HederaFunctionality {
	message := body.ProtoReflect()
	data := message.WhichOneof(message.Descriptor().Oneofs().ByName("data"))
	if data == nil {
		return services.HederaFunctionality_NONE
	}
	return services.HederaFunctionality(services.HederaFunctionality_value[ledger.FunctionOf(string(data.Name()))])
}

// chargedLike returns the function whose definition applies: transfers for airdrops, else the function itself.
func chargedLike(f services.HederaFunctionality) services.HederaFunctionality {
	if f == services.HederaFunctionality_TokenAirdrop {
		return services.HederaFunctionality_CryptoTransfer
	}
	return f
}

// isWaived reports whether a function is always free.
func isWaived(f services.HederaFunctionality) bool {
	return f == services.HederaFunctionality_SystemDelete || f == services.HederaFunctionality_SystemUndelete ||
		f == services.HederaFunctionality_HookDispatch
}

// chargeService charges the extras of the service by the type of the transaction. Types that are not listed have none.
// Errors are recorded with [bill.fail].
func (b *bill) chargeService(t *Transaction) { //nolint:cyclop,gocyclo // a table
	switch d := t.body.GetData().(type) {
	case *services.TransactionBody_CryptoCreateAccount:
		if d.CryptoCreateAccount.GetKey() != nil {
			b.add(feepb.Extra_KEYS, keys(d.CryptoCreateAccount.GetKey()))
		}
		b.addSome(feepb.Extra_HOOK_UPDATES, count(d.CryptoCreateAccount.GetHookCreationDetails()))
	case *services.TransactionBody_CryptoUpdateAccount:
		if d.CryptoUpdateAccount.GetKey() != nil {
			b.add(feepb.Extra_KEYS, keys(d.CryptoUpdateAccount.GetKey()))
		}
		b.addSome(feepb.Extra_HOOK_UPDATES, count(d.CryptoUpdateAccount.GetHookCreationDetails())+
			count(d.CryptoUpdateAccount.GetHookIdsToDelete()))
	case *services.TransactionBody_CryptoTransfer:
		b.chargeTransfer(transfersOf(t.body))
	case *services.TransactionBody_TokenAirdrop:
		b.chargeTransfer(transfersOf(t.body))
	case *services.TransactionBody_CryptoApproveAllowance:
		a := d.CryptoApproveAllowance
		b.addSome(feepb.Extra_ALLOWANCES,
			count(a.GetCryptoAllowances())+count(a.GetTokenAllowances())+count(a.GetNftAllowances()))
	case *services.TransactionBody_CryptoDeleteAllowance:
		b.addSome(feepb.Extra_ALLOWANCES, count(d.CryptoDeleteAllowance.GetNftAllowances()))
	case *services.TransactionBody_ConsensusCreateTopic:
		topic := d.ConsensusCreateTopic
		b.add(feepb.Extra_KEYS, keys(topic.GetAdminKey(), topic.GetFeeScheduleKey(), topic.GetSubmitKey()))
		b.addSome(feepb.Extra_CONSENSUS_CREATE_TOPIC_WITH_CUSTOM_FEE, min(1, count(topic.GetCustomFees())))
	case *services.TransactionBody_ConsensusUpdateTopic:
		topic := d.ConsensusUpdateTopic
		b.add(feepb.Extra_KEYS, keys(topic.GetAdminKey(), topic.GetFeeScheduleKey(), topic.GetSubmitKey())+
			keys(topic.GetFeeExemptKeyList().GetKeys()...))
	case *services.TransactionBody_ConsensusSubmitMessage:
		b.chargeMessage(d.ConsensusSubmitMessage)
	case *services.TransactionBody_FileCreate:
		b.add(feepb.Extra_KEYS, keys(d.FileCreate.GetKeys().GetKeys()...))
		b.add(feepb.Extra_STATE_BYTES, count(d.FileCreate.GetContents()))
	case *services.TransactionBody_FileUpdate:
		b.chargeFileUpdate(t.body, d.FileUpdate)
	case *services.TransactionBody_FileAppend:
		b.add(feepb.Extra_STATE_BYTES, count(d.FileAppend.GetContents()))
	case *services.TransactionBody_ContractCreateInstance:
		b.add(feepb.Extra_KEYS, keys(d.ContractCreateInstance.GetAdminKey()))
		b.addSome(feepb.Extra_HOOK_UPDATES, count(d.ContractCreateInstance.GetHookCreationDetails()))
	case *services.TransactionBody_ContractUpdateInstance:
		b.add(feepb.Extra_KEYS, keys(d.ContractUpdateInstance.GetAdminKey()))
		b.addSome(feepb.Extra_HOOK_UPDATES, count(d.ContractUpdateInstance.GetHookCreationDetails()))
		b.addSome(feepb.Extra_HOOK_UPDATES, count(d.ContractUpdateInstance.GetHookIdsToDelete()))
	case *services.TransactionBody_TokenCreation:
		token := d.TokenCreation
		b.add(feepb.Extra_KEYS, tokenKeys(token))
		if len(token.GetCustomFees()) > 0 || token.GetFeeScheduleKey() != nil {
			b.add(feepb.Extra_TOKEN_CREATE_WITH_CUSTOM_FEE, 1)
		}
	case *services.TransactionBody_TokenUpdate:
		b.add(feepb.Extra_KEYS, tokenKeys(d.TokenUpdate))
	case *services.TransactionBody_TokenMint:
		if d.TokenMint.GetAmount() == 0 && len(d.TokenMint.GetMetadata()) > 0 {
			b.add(feepb.Extra_TOKEN_MINT_NFT_BASE, 1)
			b.add(feepb.Extra_TOKEN_MINT_NFT, count(d.TokenMint.GetMetadata()))
		}
	case *services.TransactionBody_TokenAssociate:
		b.add(feepb.Extra_TOKEN_ASSOCIATE, count(d.TokenAssociate.GetTokens()))
	case *services.TransactionBody_TokenUpdateNfts:
		b.add(feepb.Extra_NFT_UPDATE, count(d.TokenUpdateNfts.GetSerialNumbers()))
	case *services.TransactionBody_ScheduleCreate:
		b.chargeSchedule(d.ScheduleCreate)
	case *services.TransactionBody_HookStore:
		var slots int64
		for _, u := range d.HookStore.GetStorageUpdates() {
			if u.GetStorageSlot() != nil {
				slots++
			}
			slots += count(u.GetMappingEntries().GetEntries())
		}
		b.add(feepb.Extra_HOOK_SLOT_UPDATE, slots)
	}
}

// count returns the length of a list or of bytes.
func count[T any](list []T) int64 { return int64(len(list)) }

// keyed has the common fields of the creation and the update of a token.
type keyed interface {
	GetAdminKey() *services.Key
	GetFeeScheduleKey() *services.Key
	GetFreezeKey() *services.Key
	GetKycKey() *services.Key
	GetMetadataKey() *services.Key
	GetPauseKey() *services.Key
	GetSupplyKey() *services.Key
	GetWipeKey() *services.Key
}

// tokenKeys returns the number of keys that a token transaction sets.
func tokenKeys(t keyed) int64 {
	return keys(t.GetAdminKey(), t.GetFeeScheduleKey(), t.GetFreezeKey(), t.GetKycKey(), t.GetMetadataKey(),
		t.GetPauseKey(), t.GetSupplyKey(), t.GetWipeKey())
}

// chargeMessage charges a message to a topic by its bytes. Whether the topic has custom fees is known only in mode
// [State], where the topic ID is required: without it, the estimate fails with [ErrUnknownType].
func (b *bill) chargeMessage(m *services.ConsensusSubmitMessageTransactionBody) {
	switch length := count(m.GetMessage()); {
	case b.isState() && m.GetTopicID() == nil:
		b.fail(ErrUnknownType)
	case b.isState() && b.facts.TopicHasFees:
		b.add(feepb.Extra_CONSENSUS_SUBMIT_MESSAGE_WITH_CUSTOM_FEE, 1)
		b.add(feepb.Extra_CONSENSUS_SUBMIT_MESSAGE_WITH_CUSTOM_FEE_BYTES, length)
	default:
		b.add(feepb.Extra_CONSENSUS_SUBMIT_MESSAGE_WITHOUT_CUSTOM_FEE_BYTES, length)
	}
}

// chargeFileUpdate charges the update of a file by keys and bytes. In mode [State], the estimate fails with
// [ErrUnknownType] without payer or file, and updates of system files are free.
func (b *bill) chargeFileUpdate(body *services.TransactionBody, u *services.FileUpdateTransactionBody) {
	if b.isState() {
		if body.GetTransactionID().GetAccountID() == nil || u.GetFileID() == nil {
			b.fail(ErrUnknownType)
			return
		}
		if n := u.GetFileID().GetFileNum(); n >= firstSystemFile && n <= lastSystemFile {
			b.Node, b.Service, b.Network = Part{}, Part{}, NetworkPart{} // free
			return
		}
	}
	b.add(feepb.Extra_KEYS, keys(u.GetKeys().GetKeys()...))
	b.add(feepb.Extra_STATE_BYTES, count(u.GetContents()))
}

// chargeSchedule charges the scheduling of a transaction. The scheduled transaction itself is charged when it is
// executed. If there is none, the estimate fails with [ErrUnknownType].
func (b *bill) chargeSchedule(s *services.ScheduleCreateTransactionBody) {
	if s.GetScheduledTransactionBody() == nil {
		b.fail(ErrUnknownType)
		return
	}
	b.add(feepb.Extra_KEYS, keys(s.GetAdminKey()))
	if s.GetScheduledTransactionBody().GetContractCall() != nil {
		b.add(feepb.Extra_SCHEDULE_CREATE_CONTRACT_CALL_BASE, 1)
	}
}
