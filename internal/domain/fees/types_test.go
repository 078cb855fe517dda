package fees_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"

	"heliograph/internal/domain/fees"
	"heliograph/internal/domain/ledger"
)

type body = services.TransactionBody

func prePost(a *services.AccountAmount, gas uint64) *services.AccountAmount {
	a.HookCall = &services.AccountAmount_PrePostTxAllowanceHook{PrePostTxAllowanceHook: hookCall(gas)}
	return a
}

func pre(a *services.AccountAmount, gas uint64) *services.AccountAmount {
	a.HookCall = &services.AccountAmount_PreTxAllowanceHook{PreTxAllowanceHook: hookCall(gas)}
	return a
}

func hookCall(gas uint64) *services.HookCall {
	return &services.HookCall{
		CallSpec: &services.HookCall_EvmHookCall{EvmHookCall: &services.EvmHookCall{GasLimit: gas}},
	}
}

func updateTopic() *body {
	return &body{
		Data: &services.TransactionBody_ConsensusUpdateTopic{
			ConsensusUpdateTopic: &services.ConsensusUpdateTopicTransactionBody{
				AdminKey: ed(1), FeeScheduleKey: ed(2), SubmitKey: ed(3),
				FeeExemptKeyList: &services.FeeExemptKeyList{Keys: []*services.Key{ed(4), ed(5)}},
			},
		},
	}
}

func cryptoUpdate() *body {
	return &body{
		Data: &services.TransactionBody_CryptoUpdateAccount{CryptoUpdateAccount: &services.CryptoUpdateTransactionBody{
			Key: ed(1), HookCreationDetails: hooks(1), HookIdsToDelete: []int64{7},
		}},
	}
}

func contractCreate() *body {
	return &body{
		Data: &services.TransactionBody_ContractCreateInstance{
			ContractCreateInstance: &services.ContractCreateTransactionBody{
				AdminKey: ed(1), HookCreationDetails: hooks(1),
			},
		},
	}
}

func contractUpdate() *body {
	return &body{
		Data: &services.TransactionBody_ContractUpdateInstance{
			ContractUpdateInstance: &services.ContractUpdateTransactionBody{
				AdminKey: ed(1), HookCreationDetails: hooks(1), HookIdsToDelete: []int64{7},
			},
		},
	}
}

func fileCreate(keyCount, length int) *body {
	return &body{Data: &services.TransactionBody_FileCreate{FileCreate: &services.FileCreateTransactionBody{
		Keys:     keyList(keyCount),
		Contents: make([]byte, length),
	}}}
}

func fileUpdate(file int64, keyCount, length int) *body {
	return &body{
		TransactionID: &services.TransactionID{AccountID: accountID(2)},
		Data: &services.TransactionBody_FileUpdate{FileUpdate: &services.FileUpdateTransactionBody{
			FileID: &services.FileID{FileNum: file}, Keys: keyList(keyCount), Contents: make([]byte, length),
		}},
	}
}

func fileAppend(length int) *body {
	return &body{
		Data: &services.TransactionBody_FileAppend{
			FileAppend: &services.FileAppendTransactionBody{Contents: make([]byte, length)},
		},
	}
}

func schedules(call bool) *body {
	s := &services.SchedulableTransactionBody{Data: &services.SchedulableTransactionBody_CryptoTransfer{}}
	if call {
		s.Data = &services.SchedulableTransactionBody_ContractCall{
			ContractCall: &services.ContractCallTransactionBody{},
		}
	}
	return &body{Data: &services.TransactionBody_ScheduleCreate{ScheduleCreate: &services.ScheduleCreateTransactionBody{
		AdminKey:                 ed(1),
		ScheduledTransactionBody: s,
	}}}
}

func associate(n int64) *body {
	a := &services.TokenAssociateTransactionBody{}
	for i := range n {
		a.Tokens = append(a.Tokens, token(i+1))
	}
	return &body{Data: &services.TransactionBody_TokenAssociate{TokenAssociate: a}}
}

func tokenCreate(custom bool) *body {
	c := &services.TokenCreateTransactionBody{
		AdminKey: ed(1), FeeScheduleKey: ed(2), FreezeKey: ed(3), KycKey: ed(4), MetadataKey: ed(5), PauseKey: ed(6),
		SupplyKey: ed(7), WipeKey: ed(8),
	}
	if custom {
		c.CustomFees, c.FeeScheduleKey, c.WipeKey = []*services.CustomFee{{}}, nil, listKey(2)
	}
	return &body{Data: &services.TransactionBody_TokenCreation{TokenCreation: c}}
}

func tokenUpdate() *body {
	return &body{Data: &services.TransactionBody_TokenUpdate{TokenUpdate: &services.TokenUpdateTransactionBody{
		AdminKey: ed(1), FeeScheduleKey: ed(2), FreezeKey: ed(3), KycKey: ed(4), MetadataKey: ed(5), PauseKey: ed(6),
		SupplyKey: ed(7), WipeKey: ed(8),
	}}}
}

func mint(amount uint64, metadata int) *body {
	return &body{Data: &services.TransactionBody_TokenMint{
		TokenMint: &services.TokenMintTransactionBody{Amount: amount, Metadata: make([][]byte, metadata)},
	}}
}

func allowances(crypto, tokens, nfts int) *body {
	a := &services.CryptoApproveAllowanceTransactionBody{}
	for range crypto {
		a.CryptoAllowances = append(a.CryptoAllowances, &services.CryptoAllowance{})
	}
	for range tokens {
		a.TokenAllowances = append(a.TokenAllowances, &services.TokenAllowance{})
	}
	for range nfts {
		a.NftAllowances = append(a.NftAllowances, &services.NftAllowance{})
	}
	return &body{Data: &services.TransactionBody_CryptoApproveAllowance{CryptoApproveAllowance: a}}
}

func airdrop(lists ...*services.TokenTransferList) *body {
	return &body{
		Data: &services.TransactionBody_TokenAirdrop{
			TokenAirdrop: &services.TokenAirdropTransactionBody{TokenTransfers: lists},
		},
	}
}

// nfts returns transfers of n NFTs of a token between two accounts.
func nfts(tokenNum int64, n int) *services.TokenTransferList {
	l := &services.TokenTransferList{Token: token(tokenNum)}
	for i := range n {
		l.NftTransfers = append(l.NftTransfers, &services.NftTransfer{
			SenderAccountID:   accountID(1),
			ReceiverAccountID: accountID(2), SerialNumber: int64(i),
		})
	}
	return l
}

// text returns a short form of an estimate: node base and extras, network multiplier, service base and extras as NAME
// count-included=subtotal.
func text(e *fees.Estimate) string {
	var b strings.Builder
	part := func(p fees.Part) {
		fmt.Fprint(&b, p.Base)
		for _, c := range p.Extras {
			fmt.Fprintf(&b, " %s %d-%d=%d", c.Name(), c.Count, c.Included, c.Subtotal)
		}
	}
	part(e.Node)
	fmt.Fprintf(&b, " ×%d | ", e.Network.Multiplier)
	part(e.Service)
	return b.String()
}

// TestTypes covers every transaction type in both modes. If the expected State estimate is empty, it equals the
// intrinsic one.
func TestTypes(t *testing.T) {
	t.Parallel()
	const node = "100000 ×9 | "
	known := &ledger.FeeFacts{TopicHasFees: true, Tokens: map[ledger.EntityID]ledger.TokenFeeFacts{
		tokenEntity(t, 21): {}, tokenEntity(t, 22): {HasCustomFees: true}, tokenEntity(t, 23): {NonFungible: true},
		tokenEntity(t, 24): {NonFungible: true, HasCustomFees: true},
	}}
	hooked := nfts(23, 1)
	hooked.NftTransfers[0].SenderAllowanceHookCall = &services.NftTransfer_PreTxSenderAllowanceHook{
		PreTxSenderAllowanceHook: hookCall(20_000_000),
	}
	hooked.NftTransfers[0].ReceiverAllowanceHookCall = &services.NftTransfer_PrePostTxReceiverAllowanceHook{
		PrePostTxReceiverAllowanceHook: hookCall(1 << 63),
	}
	slots := &services.HookStoreTransactionBody{StorageUpdates: []*services.EvmHookStorageUpdate{
		{},
		{Update: &services.EvmHookStorageUpdate_StorageSlot{StorageSlot: &services.EvmHookStorageSlot{}}},
		{Update: &services.EvmHookStorageUpdate_MappingEntries{
			MappingEntries: &services.EvmHookMappingEntries{Entries: make([]*services.EvmHookMappingEntry, 3)},
		}},
	}}
	for i := range slots.StorageUpdates[2].GetMappingEntries().Entries {
		slots.StorageUpdates[2].GetMappingEntries().Entries[i] = &services.EvmHookMappingEntry{}
	}
	exempt := createTopic(ed(1), nil, listKey(2), 0)
	exempt.GetConsensusCreateTopic().FeeExemptKeyList = []*services.Key{ed(7), ed(8)}
	twice := []*services.AccountAmount{
		amount(accountID(1), -3), amount(accountID(1), 1),
		amount(&services.AccountID{RealmNum: 1, Account: &services.AccountID_AccountNum{AccountNum: 1}}, 1),
		amount(aliasID([]byte{1}), 1), amount(aliasID([]byte{1}), 0), amount(&services.AccountID{}, 0),
	}
	for name, c := range map[string]struct {
		body             *body
		intrinsic, state string
	}{
		"CryptoCreate": {
			cryptoCreate(listKey(3), 2),
			node + "499000000 KEYS 3-1=200000000 HOOK_UPDATES 2-0=20000000000", "",
		},
		"CryptoCreate without key": {cryptoCreate(nil, 0), node + "499000000", ""},
		"CryptoUpdate":             {cryptoUpdate(), node + "1200000 HOOK_UPDATES 2-0=20000000000", ""},
		"CryptoDelete": {
			&body{Data: &services.TransactionBody_CryptoDelete{}}, node + "49000000",
			"",
		},
		"CryptoTransfer": {transfer(twice), node + "0 ACCOUNTS 4-2=2000000", ""},
		"CryptoTransfer of tokens": {
			transfer(nil, fungible(20), fungible(21)),
			node + "0 TOKEN_TYPES 2-1=1000000 TOKEN_TYPES 2-1=1000000",
			node + "0 TOKEN_TRANSFER_BASE 1-0=9000000 TOKEN_TYPES 2-1=1000000",
		},
		"CryptoTransfer with custom fees": {
			transfer(nil, fungible(21), fungible(22)),
			node + "0 TOKEN_TYPES 2-1=1000000 TOKEN_TYPES 2-1=1000000",
			node + "0 TOKEN_TRANSFER_BASE_CUSTOM_FEES 1-0=19000000 TOKEN_TYPES 2-1=1000000",
		},
		"CryptoTransfer of NFTs": {
			transfer(nil, nfts(23, 3)), node + "0 TOKEN_TYPES 3-1=2000000",
			node + "0 TOKEN_TRANSFER_BASE 1-0=9000000 TOKEN_TYPES 3-1=2000000",
		},
		"CryptoTransfer of NFTs with fees": {
			transfer(nil, nfts(24, 1)), node + "0",
			node + "0 TOKEN_TRANSFER_BASE_CUSTOM_FEES 1-0=19000000",
		},
		"CryptoTransfer of unknown NFTs": {
			transfer(nil, nfts(99, 2)), node + "0 TOKEN_TYPES 2-1=1000000",
			node + "0",
		},
		"CryptoTransfer with hooks": {
			transfer([]*services.AccountAmount{
				pre(amount(accountID(1), -1), 10),
				prePost(amount(accountID(2), 1), 25),
			}, hooked),
			node + "0 HOOK_EXECUTION 6-0=300000000 GAS 15000060-0=12780051120",
			node + "0 HOOK_EXECUTION 6-0=300000000 GAS 15000060-0=12780051120 TOKEN_TRANSFER_BASE 1-0=9000000",
		},
		"CryptoApproveAllowance":    {allowances(1, 2, 3), node + "499000000 ALLOWANCES 6-1=2500000000", ""},
		"CryptoApproveAllowance, 0": {allowances(0, 0, 0), node + "499000000", ""},
		"CryptoDeleteAllowance": {
			&body{Data: &services.TransactionBody_CryptoDeleteAllowance{
				CryptoDeleteAllowance: &services.CryptoDeleteAllowanceTransactionBody{
					NftAllowances: []*services.NftRemoveAllowance{{}, {}},
				},
			}},
			node + "499000000 ALLOWANCES 2-1=500000000", "",
		},
		"ConsensusCreateTopic": {exempt, node + "99000000 KEYS 3-0=300000000", ""},
		"ConsensusCreateTopic, custom fees": {
			createTopic(nil, nil, nil, 3),
			node + "99000000 CONSENSUS_CREATE_TOPIC_WITH_CUSTOM_FEE 1-0=19900000000", "",
		},
		"ConsensusUpdateTopic": {updateTopic(), node + "1200000 KEYS 5-1=400000000", ""},
		"ConsensusDeleteTopic": {
			&body{Data: &services.TransactionBody_ConsensusDeleteTopic{}},
			node + "49000000", "",
		},
		"ConsensusSubmitMessage": {
			message(150),
			node + "700000 CONSENSUS_SUBMIT_MESSAGE_WITHOUT_CUSTOM_FEE_BYTES 150-100=340000",
			node + "700000 CONSENSUS_SUBMIT_MESSAGE_WITH_CUSTOM_FEE 1-0=498300000",
		},
		"ConsensusSubmitMessage, much": {
			message(1100),
			node + "700000 CONSENSUS_SUBMIT_MESSAGE_WITHOUT_CUSTOM_FEE_BYTES 1100-100=6800000",
			node +
				"700000 CONSENSUS_SUBMIT_MESSAGE_WITH_CUSTOM_FEE 1-0=498300000 " +
				"CONSENSUS_SUBMIT_MESSAGE_WITH_CUSTOM_FEE_BYTES 1100-1024=76000000",
		},
		"FileCreate": {
			fileCreate(3, 1007),
			node + "499000000 KEYS 3-1=200000000 STATE_BYTES 1007-1000=7000000", "",
		},
		"FileUpdate": {
			fileUpdate(1001, 3, 1007),
			node + "499000000 KEYS 3-1=200000000 STATE_BYTES 1007-1000=7000000", "",
		},
		"FileUpdate of the first user file":  {fileUpdate(751, 1, 1), node + "499000000", ""},
		"FileUpdate of the last system file": {fileUpdate(750, 1, 1), node + "499000000", "0 ×0 | 0"},
		"FileUpdate of the first one":        {fileUpdate(1, 1, 1), node + "499000000", "0 ×0 | 0"},
		"FileUpdate of none":                 {fileUpdate(0, 1, 1), node + "499000000", ""},
		"FileAppend":                         {fileAppend(1007), node + "499000000 STATE_BYTES 1007-1000=7000000", ""},
		"FileDelete": {
			&body{Data: &services.TransactionBody_FileDelete{}}, node + "69000000",
			"",
		},
		"SystemDelete": {&body{Data: &services.TransactionBody_SystemDelete{}}, "0 ×0 | 0", ""},
		"SystemUndelete": {
			&body{Data: &services.TransactionBody_SystemUndelete{}}, "0 ×0 | 0",
			"",
		},
		"HookDispatch":   {&body{Data: &services.TransactionBody_HookDispatch{}}, "0 ×0 | 0", ""},
		"ContractCall":   {&body{Data: &services.TransactionBody_ContractCall{}}, "0 ×0 | 0", ""},
		"ContractCreate": {contractCreate(), node + "9999000000 HOOK_UPDATES 1-0=10000000000", ""},
		"ContractCreate without key": {
			&body{Data: &services.TransactionBody_ContractCreateInstance{}},
			node + "9999000000", "",
		},
		"ContractUpdate": {
			contractUpdate(),
			node + "259000000 HOOK_UPDATES 1-0=10000000000 HOOK_UPDATES 1-0=10000000000", "",
		},
		"ContractDelete": {
			&body{Data: &services.TransactionBody_ContractDeleteInstance{}},
			node + "69000000", "",
		},
		"EthereumTransaction": {
			&body{Data: &services.TransactionBody_EthereumTransaction{}},
			node + "0", "",
		},
		"TokenCreate": {
			tokenCreate(false),
			node + "9999000000 KEYS 8-1=700000000 TOKEN_CREATE_WITH_CUSTOM_FEE 1-0=10000000000", "",
		},
		"TokenUpdate": {tokenUpdate(), node + "9000000 KEYS 8-1=700000000", ""},
		"TokenMint": {
			mint(0, 3),
			node + "9000000 TOKEN_MINT_NFT_BASE 1-0=190000000 TOKEN_MINT_NFT 3-1=400000000", "",
		},
		"TokenMint of an amount":  {mint(5, 3), node + "9000000", ""},
		"TokenMint of nothing":    {mint(0, 0), node + "9000000", ""},
		"TokenAssociateToAccount": {associate(3), node + "499000000 TOKEN_ASSOCIATE 3-1=1000000000", ""},
		"TokenDissociateFromAccount": {
			&body{Data: &services.TransactionBody_TokenDissociate{}},
			node + "499000000", "",
		},
		"TokenUpdateNfts": {
			&body{
				Data: &services.TransactionBody_TokenUpdateNfts{
					TokenUpdateNfts: &services.TokenUpdateNftsTransactionBody{SerialNumbers: []int64{1, 2, 3}},
				},
			},
			node + "9000000 NFT_UPDATE 3-1=20000000", "",
		},
		"TokenAirdrop": {
			airdrop(fungible(21)), node + "0 TOKEN_TYPES 2-1=1000000",
			node + "0 TOKEN_TRANSFER_BASE 1-0=9000000",
		},
		"TokenClaimAirdrop": {
			&body{Data: &services.TransactionBody_TokenClaimAirdrop{}}, node + "9000000",
			"",
		},
		"TokenCancelAirdrop": {
			&body{Data: &services.TransactionBody_TokenCancelAirdrop{}}, node + "9000000",
			"",
		},
		"TokenReject":               {&body{Data: &services.TransactionBody_TokenReject{}}, node + "9000000", ""},
		"TokenBurn":                 {&body{Data: &services.TransactionBody_TokenBurn{}}, node + "9000000", ""},
		"TokenDelete":               {&body{Data: &services.TransactionBody_TokenDeletion{}}, node + "9000000", ""},
		"TokenFreezeAccount":        {&body{Data: &services.TransactionBody_TokenFreeze{}}, node + "9000000", ""},
		"TokenUnfreezeAccount":      {&body{Data: &services.TransactionBody_TokenUnfreeze{}}, node + "9000000", ""},
		"TokenGrantKycToAccount":    {&body{Data: &services.TransactionBody_TokenGrantKyc{}}, node + "9000000", ""},
		"TokenRevokeKycFromAccount": {&body{Data: &services.TransactionBody_TokenRevokeKyc{}}, node + "9000000", ""},
		"TokenPause":                {&body{Data: &services.TransactionBody_TokenPause{}}, node + "9000000", ""},
		"TokenUnpause":              {&body{Data: &services.TransactionBody_TokenUnpause{}}, node + "9000000", ""},
		"TokenAccountWipe":          {&body{Data: &services.TransactionBody_TokenWipe{}}, node + "9000000", ""},
		"TokenFeeScheduleUpdate": {
			&body{Data: &services.TransactionBody_TokenFeeScheduleUpdate{}},
			node + "9000000", "",
		},
		"ScheduleCreate": {schedules(false), node + "99000000", ""},
		"ScheduleCreate of a call": {
			schedules(true),
			node + "99000000 SCHEDULE_CREATE_CONTRACT_CALL_BASE 1-0=900000000", "",
		},
		"ScheduleSign":   {&body{Data: &services.TransactionBody_ScheduleSign{}}, node + "9000000", ""},
		"ScheduleDelete": {&body{Data: &services.TransactionBody_ScheduleDelete{}}, node + "9000000", ""},
		"UtilPrng":       {&body{Data: &services.TransactionBody_UtilPrng{}}, node + "9000000", ""},
		"AtomicBatch": {
			&body{
				Data: &services.TransactionBody_AtomicBatch{
					AtomicBatch: &services.AtomicBatchTransactionBody{Transactions: [][]byte{signed(t,
						cryptoCreate(ed(1), 0), 1)}},
				},
			},
			node + "9000000", "",
		},
		"NodeCreate":           {&body{Data: &services.TransactionBody_NodeCreate{}}, node + "9000000", ""},
		"NodeUpdate":           {&body{Data: &services.TransactionBody_NodeUpdate{}}, node + "9000000", ""},
		"NodeDelete":           {&body{Data: &services.TransactionBody_NodeDelete{}}, node + "9000000", ""},
		"RegisteredNodeCreate": {&body{Data: &services.TransactionBody_RegisteredNodeCreate{}}, node + "9000000", ""},
		"RegisteredNodeUpdate": {&body{Data: &services.TransactionBody_RegisteredNodeUpdate{}}, node + "9000000", ""},
		"RegisteredNodeDelete": {&body{Data: &services.TransactionBody_RegisteredNodeDelete{}}, node + "9000000", ""},
		"HookStore": {
			&body{Data: &services.TransactionBody_HookStore{HookStore: slots}},
			node + "49000000 HOOK_SLOT_UPDATE 4-1=150000000", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := signed(t, c.body, 1)
			if c.state == "" {
				c.state = c.intrinsic
			}
			for mode, want := range map[fees.Mode]string{fees.Intrinsic: c.intrinsic, fees.State: c.state} {
				e := estimate(t, b, fees.Options{Mode: mode, Facts: known})
				if got := text(e); got != want {
					t.Errorf("%s: %s\nwant %s", mode, got, want)
				}
				if e.Mode != mode || !strings.HasPrefix(name, e.Function) {
					t.Errorf("mode %s, function %s", e.Mode, e.Function)
				}
				sound(t, e)
			}
		})
	}
}

// TestUnknownTypes tests transaction types that cannot be sent and are not priced.
func TestUnknownTypes(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*body{
		"CryptoAddLiveHash":    {Data: &services.TransactionBody_CryptoAddLiveHash{}},
		"CryptoDeleteLiveHash": {Data: &services.TransactionBody_CryptoDeleteLiveHash{}},
		"Freeze":               {Data: &services.TransactionBody_Freeze{}},
		"UncheckedSubmit":      {Data: &services.TransactionBody_UncheckedSubmit{}},
		"NodeStakeUpdate":      {Data: &services.TransactionBody_NodeStakeUpdate{}},
		"StateSignature":       {Data: &services.TransactionBody_StateSignatureTransaction{}},
		"HintsVote":            {Data: &services.TransactionBody_HintsPreprocessingVote{}},
		"HintsKey":             {Data: &services.TransactionBody_HintsKeyPublication{}},
		"HintsSignature":       {Data: &services.TransactionBody_HintsPartialSignature{}},
		"HistorySignature":     {Data: &services.TransactionBody_HistoryProofSignature{}},
		"HistoryKey":           {Data: &services.TransactionBody_HistoryProofKeyPublication{}},
		"HistoryVote":          {Data: &services.TransactionBody_HistoryProofVote{}},
		"CRS":                  {Data: &services.TransactionBody_CrsPublication{}},
		"LedgerID":             {Data: &services.TransactionBody_LedgerIdPublication{}},
		"MigrationVote":        {Data: &services.TransactionBody_MigrationRootHashVote{}},
	} {
		for _, mode := range []fees.Mode{fees.Intrinsic, fees.State} {
			if _, err := schedule(t).Estimate(parse(t, signed(t, b, 1)),
				fees.Options{Mode: mode}); err != fees.ErrUnknownType { //nolint:errorlint // must be the same value
				t.Errorf("%s, %s: %v", name, mode, err)
			}
		}
	}
}

type (
	serviceAmount = services.AccountAmount
	serviceList   = services.TokenTransferList
)

// pay returns a payment of account 1 to an alias.
func pay(alias []byte) []*serviceAmount {
	return []*serviceAmount{amount(accountID(1), -1), amount(aliasID(alias), 1)}
}

// give returns the transfer of an NFT from account 1 to an alias.
func give(alias []byte) []*services.NftTransfer {
	return []*services.NftTransfer{{SenderAccountID: accountID(1), ReceiverAccountID: aliasID(alias), SerialNumber: 1}}
}

func updateNfts(n int64) *services.TransactionBody_TokenUpdateNfts {
	return &services.TransactionBody_TokenUpdateNfts{
		TokenUpdateNfts: &services.TokenUpdateNftsTransactionBody{SerialNumbers: make([]int64, n)},
	}
}

func prng() *body { return &body{Data: &services.TransactionBody_UtilPrng{}} }

func call() *body { return &body{Data: &services.TransactionBody_ContractCall{}} }

func systemDelete() *body { return &body{Data: &services.TransactionBody_SystemDelete{}} }

func claim() *body { return &body{Data: &services.TransactionBody_TokenClaimAirdrop{}} }
