package fees

import (
	"slices"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/fees/feepb"
	"heliograph/internal/domain/ledger"
)

// maxHookGas is the maximum gas of a single hook call.
const maxHookGas = 15_000_000

type transfers struct {
	hbar   []*services.AccountAmount
	tokens []*services.TokenTransferList
}

// amounts returns a new list of the amounts of hbars and of all tokens by account.
func (t transfers) amounts() []*services.AccountAmount {
	all := slices.Clone(t.hbar)
	for _, list := range t.tokens {
		all = append(all, list.GetTransfers()...)
	}
	return all
}

// nfts returns a new list of the transfers of NFTs of all tokens.
func (t transfers) nfts() (all []*services.NftTransfer) {
	for _, list := range t.tokens {
		all = append(all, list.GetNftTransfers()...)
	}
	return all
}

// transfersOf returns the transfers of a transaction, or none if it is neither a transfer nor an airdrop. The lists
// are those of the message.
func transfersOf(body *services.TransactionBody) transfers {
	if t := body.GetCryptoTransfer(); t != nil {
		return transfers{t.GetTransfers().GetAccountAmounts(), t.GetTokenTransfers()}
	}
	return transfers{nil, body.GetTokenAirdrop().GetTokenTransfers()}
}

// chargeTransfer charges transfers by their accounts, hooks and tokens, and in mode [State] also by the types of
// tokens and the created accounts. If an account is missing, the estimate fails with [ErrUnknownType].
func (b *bill) chargeTransfer(t transfers) {
	accounts, complete := t.accounts()
	if !complete {
		b.fail(ErrUnknownType)
		return
	}
	b.add(feepb.Extra_ACCOUNTS, accounts)
	if calls, gas := t.hooks(); calls > 0 {
		b.add(feepb.Extra_HOOK_EXECUTION, calls)
		b.add(feepb.Extra_GAS, gas)
	}
	if b.isState() {
		b.chargeTokens(t)
		b.creations(t.newcomers())
		return
	}
	for _, list := range t.tokens {
		b.add(feepb.Extra_TOKEN_TYPES, count(list.GetTransfers())+count(list.GetNftTransfers()))
	}
}

// chargeTokens charges transfers of tokens by the types of the tokens, which it takes from the facts of mode [State].
// If a token ID is missing, the estimate fails with [ErrUnknownType]. A token without facts counts as fungible and
// without custom fees.
func (b *bill) chargeTokens(t transfers) {
	var units int64
	customFees := false
	for _, list := range t.tokens {
		if list.GetToken() == nil {
			b.fail(ErrUnknownType)
			return
		}
		token := b.facts.Tokens[tokenID(list.GetToken())]
		var counted int64
		switch {
		case token.NonFungible:
			counted = count(list.GetNftTransfers())
		case len(list.GetTransfers()) > 0:
			counted = 1
		}
		units += counted
		customFees = customFees || counted > 0 && token.HasCustomFees
	}
	switch {
	case customFees:
		b.add(feepb.Extra_TOKEN_TRANSFER_BASE_CUSTOM_FEES, 1)
	case units > 0:
		b.add(feepb.Extra_TOKEN_TRANSFER_BASE, 1)
	}
	b.add(feepb.Extra_TOKEN_TYPES, units)
}

// account identifies an account in a transaction, for comparison.
type account struct {
	shard, realm, number int64
	alias                string
	named                bool // identified by an alias
}

// accountOf returns the account of a message as a comparable value: number or alias. A nil message is the zero value.
func accountOf(id *services.AccountID) account {
	a := account{shard: id.GetShardNum(), realm: id.GetRealmNum(), number: id.GetAccountNum()}
	if alias, named := id.GetAccount().(*services.AccountID_Alias); named {
		a.alias, a.named = string(alias.Alias), true
	}
	return a
}

// accounts returns the number of distinct accounts. complete is false if a transfer has no account; n then counts one
// for all of these.
func (t transfers) accounts() (n int64, complete bool) {
	seen := map[account]struct{}{}
	complete = true
	see := func(id *services.AccountID) {
		complete = complete && id != nil
		seen[accountOf(id)] = struct{}{}
	}
	for _, a := range t.amounts() {
		see(a.GetAccountID())
	}
	for _, nft := range t.nfts() {
		see(nft.GetSenderAccountID())
		see(nft.GetReceiverAccountID())
	}
	return int64(len(seen)), complete
}

// hooks returns the number of hook calls and the sum of their gas limits, of which each counts at most maxHookGas, and
// as 0 from 2^63 on. A hook that is called before and after counts twice, as does its gas.
func (t transfers) hooks() (calls, gas int64) {
	call := func(hook *services.HookCall, times int64) {
		if hook == nil {
			return
		}
		calls += times
		gas += times * max(0, min(int64(hook.GetEvmHookCall().GetGasLimit()), maxHookGas))
	}
	for _, a := range t.amounts() {
		call(a.GetPreTxAllowanceHook(), 1)
		call(a.GetPrePostTxAllowanceHook(), 2)
	}
	for _, nft := range t.nfts() {
		call(nft.GetPreTxSenderAllowanceHook(), 1)
		call(nft.GetPrePostTxSenderAllowanceHook(), 2)
		call(nft.GetPreTxReceiverAllowanceHook(), 1)
		call(nft.GetPrePostTxReceiverAllowanceHook(), 2)
	}
	return calls, gas
}

// newcomer is a receiver for which a transfer creates an account if no account has the alias or, for an ECDSA key, its
// address.
type newcomer struct{ alias, address ledger.Alias }

// maxNewcomers is the maximum number of keys whose addresses are computed. The network accepts fewer receivers per
// transaction.
const maxNewcomers = 100

// newcomers returns the distinct receivers, at most maxNewcomers, that are identified by an alias for which an
// account can be created.
func (t transfers) newcomers() []newcomer {
	var out []newcomer
	seen := map[string]bool{}
	receive := func(id *services.AccountID) {
		alias := id.GetAlias()
		if len(out) == maxNewcomers || seen[string(alias)] {
			return
		}
		seen[string(alias)] = true
		if address, possible := canCreate(alias); possible {
			out = append(out, newcomer{alias, address})
		}
	}
	for _, a := range t.amounts() {
		if a.GetAmount() > 0 {
			receive(a.GetAccountID())
		}
	}
	for _, nft := range t.nfts() {
		receive(nft.GetReceiverAccountID())
	}
	return out
}

// Lengths of aliases.
const (
	addressLength = 20
	ed25519Length = 32
	ecdsaLength   = 33
)

// canCreate reports whether a transfer to an unused alias creates an account: an EVM address that is not long-zero, or
// a single key. For an ECDSA key it returns the address by which an existing account may be found, else nil.
func canCreate(alias []byte) (address ledger.Alias, possible bool) {
	if len(alias) == addressLength {
		return nil, slices.ContainsFunc(alias[:12], func(c byte) bool { return c != 0 })
	}
	if len(alias) != 2+ed25519Length && len(alias) != 2+ecdsaLength {
		return nil, false
	}
	var key services.Key
	if proto.Unmarshal(alias, &key) != nil {
		return nil, false
	}
	if len(key.GetEd25519()) == ed25519Length {
		return nil, true
	}
	public, err := crypto.DecompressPubkey(key.GetECDSASecp256K1())
	if err != nil {
		return nil, false
	}
	return crypto.PubkeyToAddress(*public).Bytes(), true
}

// tokenID returns the id of a token, or 0 if such a token cannot exist.
func tokenID(t *services.TokenID) ledger.EntityID {
	return entityID(t.GetShardNum(), t.GetRealmNum(), t.GetTokenNum())
}

// entityID returns the entity ID of three numbers, or 0 if one is out of range.
func entityID(shard, realm, number int64) ledger.EntityID {
	id, err := ledger.NewEntityID(shard, realm, number)
	if err != nil {
		return 0
	}
	return id
}

// Questions returns what the fee depends on in mode [State]: the topic, tokens and aliases whose facts the caller
// has to read from the ledger. It reads nothing itself.
func (t *Transaction) Questions() *ledger.FeeQuestions {
	q := &ledger.FeeQuestions{}
	if topic := t.body.GetConsensusSubmitMessage().GetTopicID(); topic != nil {
		q.Topic = entityID(topic.GetShardNum(), topic.GetRealmNum(), topic.GetTopicNum())
	}
	moved := transfersOf(t.body)
	for _, list := range moved.tokens {
		if id := tokenID(list.GetToken()); id != 0 {
			q.Tokens = append(q.Tokens, id)
		}
	}
	slices.Sort(q.Tokens)
	q.Tokens = slices.Compact(q.Tokens)
	for _, n := range moved.newcomers() {
		q.Aliases = append(q.Aliases, n.alias)
		if n.address != nil {
			q.Aliases = append(q.Aliases, n.address)
		}
	}
	return q
}
