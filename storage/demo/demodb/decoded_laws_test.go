package demodb

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/hiero-ledger/hiero-sdk-go/v2/proto/services"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"heliograph/internal/domain/ledger"
	"heliograph/storage/demo/world"
)

// decodedLaw is a law about encoded values. check returns the numbers of rows and violations.
type decodedLaw struct {
	mutation string
	check    func(t *testing.T, conn *pgx.Conn) (rows, broken int64)
}

var decodedLaws = map[string]decodedLaw{
	"gas costs what the network charges at that time, and at most what the transaction allows": {
		"update ethereum_transaction set gas_price = '\\x01' where gas_price is not null", checkGasPrices,
	},
	"raw Ethereum transactions have their hash, sender and nonce": {"update ethereum_transaction set hash = " +
		"sha256(hash) where type = 2", checkRawTransactions},
	"the signer of an Ethereum transaction is its sender and takes part in it": {
		"delete from entity_transaction where entity_id in (1002, 1008, 1015)", checkSigners,
	},
	"logs of calls are in the blooms of the log, the result and the block": {"update contract_log set bloom = '' " +
		"where synthetic is not true", checkBlooms},
	"schedules are signed by required keys": {"update transaction_signature set " +
		"public_key_prefix = '\\x77'", checkSignatures},
}

// list returns the rows of a query.
func list[T any](t *testing.T, conn *pgx.Conn, sql string) []T {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func checkGasPrices(t *testing.T, conn *pgx.Conn) (rows, broken int64) {
	t.Helper()
	results := list[struct {
		TS, Used, Charged, Paid int64
		Sent                    bool
		Allowed                 []byte
		Fees, Rates             []byte
	}](t, conn, `
		select r.consensus_timestamp, r.gas_used, t.charged_tx_fee,
			coalesce((select sum(-x.amount) from crypto_transfer x where x.consensus_timestamp = t.consensus_timestamp and x.entity_id = r.sender_id), 0)
			+ coalesce((select sum(amount) from staking_reward_transfer x where x.consensus_timestamp = t.consensus_timestamp and x.account_id = r.sender_id), 0)
			- case when t.result = 22 then r.amount else 0 end, r.sender_id is not null,
			coalesce(e.gas_price, e.max_fee_per_gas), fees, rates
		from contract_result r join transaction t using (consensus_timestamp) left join ethereum_transaction e using (consensus_timestamp)
		cross join lateral (select string_agg(file_data, '' order by consensus_timestamp) fees from file_data f where f.entity_id = 111 and f.consensus_timestamp between (
			select max(consensus_timestamp) from file_data f where f.entity_id = 111 and transaction_type in (17, 19) and f.consensus_timestamp <= t.consensus_timestamp) and t.consensus_timestamp) f
		left join lateral (select file_data rates from file_data f where f.entity_id = 112 and f.consensus_timestamp <= t.consensus_timestamp order by consensus_timestamp desc limit 1) x on true
		where t.nonce = 0 and r.gas_used > 0`)
	for _, r := range results {
		fees, err := ledger.DecodeFeeSchedules(r.Fees)
		rates, err2 := ledger.DecodeExchangeRates(r.Rates)
		if err != nil || err2 != nil {
			broken++
			continue
		}
		price := fees.GasPrice(rates, ledger.Timestamp(r.TS))
		allowed := new(big.Int).Div(new(big.Int).SetBytes(r.Allowed), big.NewInt(10_000_000_000)) // weibars
		if r.Charged/r.Used != price.V || r.Allowed != nil &&
			(allowed.Int64() < price.V || r.Sent && r.Paid != r.Used*price.V) {
			broken++
		}
	}
	return int64(len(results)), broken
}

func checkRawTransactions(t *testing.T, conn *pgx.Conn) (rows, broken int64) {
	t.Helper()
	nonces := map[common.Address]uint64{}
	transactions := list[struct {
		Data, Hash, Address, ResultHash []byte
		Nonce, Last                     int64
		Result                          int
	}](t, conn, `
		select data, x.hash, coalesce(e.evm_address, ''), r.transaction_hash, x.nonce, coalesce(e.ethereum_nonce, 0), r.transaction_result
		from ethereum_transaction x join contract_result r using (consensus_timestamp)
		left join entity e on e.id = r.sender_id or (r.sender_id is null and position(e.evm_address in r.function_result) > 0) order by consensus_timestamp`)
	for _, r := range transactions {
		var x types.Transaction
		err := x.UnmarshalBinary(r.Data)
		sender, err2 := types.Sender(types.LatestSignerForChainID(big.NewInt(world.ChainID)), &x)
		if err != nil || err2 != nil || !bytes.Equal(crypto.Keccak256(r.Data), r.Hash) ||
			!bytes.Equal(r.Hash, r.ResultHash) || !bytes.Equal(sender[:], r.Address) {
			broken++
			continue
		}
		const wrongNonce = 312
		if x.Nonce() != uint64(r.Nonce) || (r.Result == wrongNonce) == (x.Nonce() == nonces[sender]) ||
			r.Nonce >= r.Last && r.Result != wrongNonce {
			broken++
		}
		if r.Result != wrongNonce {
			nonces[sender]++
		}
	}
	return int64(len(transactions)), broken
}

func checkSignatures(t *testing.T, conn *pgx.Conn) (rows, broken int64) {
	t.Helper()
	keys := map[int64][]byte{}
	for _, e := range list[struct {
		ID    int64
		Key   []byte
		Signs bool
	}](t, conn,
		"select id, key, coalesce(receiver_sig_required, false) from entity where type = 'ACCOUNT' and key is not "+
			"null") {
		keys[e.ID] = e.Key
		if e.Signs {
			keys[-e.ID] = e.Key // to receive
		}
	}
	signatures := list[struct {
		Prefix, Body []byte
		Payer        int64
	}](t, conn,
		"select public_key_prefix, transaction_body, s.payer_account_id from transaction_signature join schedule s "+
			"on schedule_id = entity_id")
	for _, s := range signatures {
		var body services.SchedulableTransactionBody
		if err := proto.Unmarshal(s.Body, &body); err != nil {
			t.Fatal(err)
		}
		required := keys[s.Payer]
		for _, a := range body.GetCryptoTransfer().GetTransfers().GetAccountAmounts() {
			id := a.GetAccountID().GetAccountNum()
			if a.GetAmount() > 0 {
				id = -id
			}
			required = append(required[:len(required):len(required)], keys[id]...)
		}
		if !bytes.Contains(required, s.Prefix) {
			broken++
		}
	}
	return int64(len(signatures)), broken
}

func checkSigners(t *testing.T, conn *pgx.Conn) (rows, broken int64) {
	t.Helper()
	transactions := list[struct {
		Data          []byte
		Sender        *int64
		Party, Moving []int64
	}](t, conn, `
		select data, r.sender_id,
			(select array_agg(entity_id) from entity_transaction p where p.consensus_timestamp = x.consensus_timestamp),
			(select array_agg(entity_id) from crypto_transfer c where c.consensus_timestamp = x.consensus_timestamp)
		from ethereum_transaction x left join contract_result r using (consensus_timestamp)`)
	accounts := map[common.Address]int64{}
	for _, e := range list[struct {
		ID      int64
		Address []byte
	}](t, conn, "select id, evm_address from entity where evm_address is not null") {
		accounts[common.Address(e.Address)] = e.ID
	}
	for _, r := range transactions {
		var x types.Transaction
		if err := x.UnmarshalBinary(r.Data); err != nil {
			broken++
			continue
		}
		address, err := types.Sender(types.LatestSignerForChainID(big.NewInt(world.ChainID)), &x)
		id := accounts[address]
		if err != nil || id == 0 || r.Sender != nil && *r.Sender != id || !slices.Contains(r.Party, id) ||
			!slices.Contains(r.Moving, id) {
			broken++
		}
	}
	return int64(len(transactions)), broken
}

func checkBlooms(t *testing.T, conn *pgx.Conn) (rows, broken int64) {
	t.Helper()
	logs := list[struct {
		Address, Bloom, OfResult, OfBlock []byte
		Contract                          int64
		T0, T1, T2, T3                    []byte
	}](t, conn, `
		select coalesce(e.evm_address, ''), l.bloom, r.bloom, b.logs_bloom, l.contract_id, topic0, topic1, topic2, topic3
		from contract_log l join contract_result r using (consensus_timestamp) left join entity e on e.id = l.contract_id
		cross join lateral (select logs_bloom from record_file f where f.consensus_end >= l.consensus_timestamp order by f.consensus_end limit 1) b`)
	for _, r := range logs {
		l := &types.Log{Address: common.Address(ledger.EntityID(r.Contract).LongZero())}
		if len(r.Address) > 0 {
			l.Address = common.Address(r.Address)
		}
		for _, topic := range [][]byte{r.T0, r.T1, r.T2, r.T3} {
			if topic != nil {
				l.Topics = append(l.Topics, common.BytesToHash(topic))
			}
		}
		want := types.CreateBloom(&types.Receipt{Logs: []*types.Log{l}})
		inside := func(bloom []byte) bool {
			for i := range want {
				if len(bloom) != len(want) || bloom[i]&want[i] != want[i] {
					return false
				}
			}
			return true
		}
		if !bytes.Equal(r.Bloom, want[:]) || !inside(r.OfResult) || !inside(r.OfBlock) {
			broken++
		}
	}
	return int64(len(logs)), broken
}
