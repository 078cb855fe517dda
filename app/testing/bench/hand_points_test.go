package bench

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
)

// The handlers of single objects. Each reads an object in one or two round trips: what its key finds, and what belongs
// to the rows of the first.

const (
	tokensOfAccount = 1000
	wordSize        = 32
	bloomSize       = 256
	ok              = 22 // response code SUCCESS
)

type oneAccountDTO struct {
	accountDTO

	Transactions []transactionDTO `json:"transactions"`
	Links        links            `json:"links"`
}

const transactionColumns = `t.consensus_timestamp, t.payer_account_id, t.valid_start_ns, t.type, t.result, t.batch_key, t.transaction_bytes, t.charged_tx_fee,
  t.entity_id, t.high_volume, t.high_volume_pricing_multiplier, t.max_custom_fees, t.max_fee, t.memo, t.nft_transfer, t.node_account_id, t.nonce,
  t.parent_consensus_timestamp, t.scheduled, t.transaction_hash, t.valid_duration_seconds`

// transactionsOf reads the newest transactions in which an account takes part.
const transactionsOf = `select ` + transactionColumns + ` from (
  select consensus_timestamp from (
    (select consensus_timestamp from transaction where payer_account_id = $1 and (nonce = 0 or parent_consensus_timestamp is not null or type in (11, 15))
      order by consensus_timestamp desc limit 25)
    union all (select consensus_timestamp from entity_transaction where entity_id = $1 order by consensus_timestamp desc limit 25)
    union all (select distinct consensus_timestamp from crypto_transfer where entity_id = $1 and entity_id <> 98 order by consensus_timestamp desc limit 25)
    union all (select distinct consensus_timestamp from token_transfer where account_id = $1 order by consensus_timestamp desc limit 25)) found
  group by consensus_timestamp order by consensus_timestamp desc limit 25) page
join transaction t on t.consensus_timestamp = page.consensus_timestamp order by t.consensus_timestamp desc`

func (h *hand) account(w http.ResponseWriter, r *http.Request) {
	id, err := ledger.ParseEntityID(r.PathValue("id"), 0)
	if err != nil {
		answer(w, nil, err)
		return
	}
	var a accountScan
	var s transactionScan
	body := oneAccountDTO{Transactions: []transactionDTO{}}
	var times, payers []int64
	tokens := []tokenDTO{}
	var b pgx.Batch
	b.Queue(`select e.id, e.alias, e.auto_renew_period, e.balance, e.balance_timestamp, e.created_timestamp, e.decline_reward, e.deleted, e.ethereum_nonce,
  e.evm_address, e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, s.pending_reward, s.end_stake_period, e.receiver_sig_required,
  e.staked_account_id, e.staked_node_id, e.stake_period_start
from entity e left join entity_stake s on s.id = e.id where e.id = $1 and e.type in ('ACCOUNT', 'CONTRACT')`, int64(id)).
		QueryRow(func(row pgx.Row) error { return row.Scan(a.targets()...) })
	var token, balance int64
	b.Queue(`select token_id, balance from token_account where account_id = $1 and associated order by token_id `+
		`limit $2`, int64(id), tokensOfAccount).
		Query(each([]any{&token, &balance}, func() {
			tokens = append(tokens, tokenDTO{ledger.EntityID(token).String(), balance})
		}))
	b.Queue(transactionsOf, int64(id)).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, s.targets(), func() error {
			t, err := s.finish()
			body.Transactions, times, payers = append(body.Transactions, t), append(times, s.at),
				append(payers, s.payer)
			return err
		})
		return err
	})
	if err = h.pool.SendBatch(r.Context(), &b).Close(); err == nil && times != nil {
		err = h.transfers(r.Context(), times, payers, body.Transactions)
	}
	body.accountDTO = a.finish()
	body.Balance.Tokens = tokens
	if n := len(body.Transactions); n == pageSize {
		body.Links = linkTo(r, true, "timestamp=lt:"+body.Transactions[n-1].ConsensusTimestamp)
	}
	answer(w, &body, err)
}

type assessedFeeDTO struct {
	Amount                   int64    `json:"amount"`
	CollectorAccountID       *string  `json:"collector_account_id"`
	TokenID                  *string  `json:"token_id"`
	EffectivePayerAccountIDs []string `json:"effective_payer_account_ids"`
}

type oneTransactionDTO struct {
	AssessedCustomFees []assessedFeeDTO `json:"assessed_custom_fees,omitempty"`
	transactionDTO
}

func (h *hand) transaction(w http.ResponseWriter, r *http.Request) {
	var num, seconds, nanos int64
	if _, err := fmt.Sscanf(r.PathValue("id"), "0.0.%d-%d-%d", &num, &seconds, &nanos); err != nil {
		answer(w, nil, err)
		return
	}
	start := seconds*1_000_000_000 + nanos
	rows, err := h.pool.Query(r.Context(), `select `+transactionColumns+` from transaction t
where payer_account_id = $1 and valid_start_ns = $2 and consensus_timestamp between $3 and $4 order by consensus_timestamp`,
		num, start, start-1_000_000_000, start+35*60*1_000_000_000)
	if err != nil {
		answer(w, nil, err)
		return
	}
	var body struct {
		Transactions []oneTransactionDTO `json:"transactions"`
	}
	var found []transactionDTO
	var times, payers []int64
	var s transactionScan
	if _, err = pgx.ForEachRow(rows, s.targets(), func() error {
		t, err := s.finish()
		found, times, payers = append(found, t), append(times, s.at), append(payers, s.payer)
		return err
	}); err == nil && len(found) == 1 {
		body.Transactions = make([]oneTransactionDTO, 1)
		err = h.parts(r.Context(), times[0], payers[0], &found[0], &body.Transactions[0])
		body.Transactions[0].transactionDTO = found[0]
	}
	answer(w, &body, err)
}

// parts reads what one transaction moved.
func (h *hand) parts(ctx context.Context, at, payer int64, t *transactionDTO, of *oneTransactionDTO) error {
	var b pgx.Batch
	var token, amount, holder int64
	var account, optional *int64
	var effective []int64
	var approved bool
	b.Queue(`select entity_id, amount, coalesce(is_approval, false) from crypto_transfer where consensus_timestamp = $1 and payer_account_id = $2
order by entity_id, amount`, at, payer).Query(each([]any{&account, &amount, &approved}, func() {
		t.Transfers = append(t.Transfers, transferDTO{idOf(account), amount, approved})
	}))
	b.Queue(`select token_id, account_id, amount, coalesce(is_approval, false) from token_transfer where consensus_timestamp = $1 and payer_account_id = $2
order by token_id, account_id`, at, payer).Query(each([]any{&token, &holder, &amount, &approved}, func() {
		t.TokenTransfers = append(t.TokenTransfers,
			tokenTransferDTO{ledger.EntityID(token).String(), ledger.EntityID(holder).String(), amount, approved})
	}))
	b.Queue(`select account_id, amount from staking_reward_transfer r where consensus_timestamp = $1 and exists (
  select from crypto_transfer c where c.consensus_timestamp = r.consensus_timestamp and c.entity_id = 800) order by account_id`, at).
		Query(each([]any{&holder, &amount}, func() {
			t.StakingRewardTransfers = append(t.StakingRewardTransfers,
				rewardDTO{ledger.EntityID(holder).String(), amount})
		}))
	b.Queue(`select amount, collector_account_id, token_id, effective_payer_account_ids from assessed_custom_fee
where consensus_timestamp = $1 and payer_account_id = $2 order by collector_account_id, amount`, at, payer).
		Query(each([]any{&amount, &account, &optional, &effective}, func() {
			fee := assessedFeeDTO{amount, idOf(account), idOf(optional), []string{}}
			for _, id := range effective {
				fee.EffectivePayerAccountIDs = append(fee.EffectivePayerAccountIDs, ledger.EntityID(id).String())
			}
			of.AssessedCustomFees = append(of.AssessedCustomFees, fee)
		}))
	return h.pool.SendBatch(ctx, &b).Close()
}

func (h *hand) block(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	if err != nil {
		answer(w, nil, err)
		return
	}
	var b blockDTO
	var from, to int64
	var bloom []byte
	err = h.pool.QueryRow(r.Context(), `select count, hapi_version_major || '.' || hapi_version_minor || '.' || hapi_version_patch, '0x' || hash, name, index,
  '0x' || prev_hash, coalesce(size, length(bytes)), consensus_start, consensus_end, nullif(gas_used, -1), logs_bloom,
  '0x' || encode(receipts_root, 'hex') from record_file where index = $1`, number).
		Scan(&b.Count, &b.HapiVersion, &b.Hash, &b.Name, &b.Number, &b.PreviousHash, &b.Size, &from, &to, &b.GasUsed,
			&bloom, &b.ReceiptsRoot)
	b.Timestamp.From, b.Timestamp.To = ledger.Timestamp(from).String(), ledger.Timestamp(to).String()
	if bloom != nil {
		s := bloomOf(bloom)
		b.LogsBloom = &s
	}
	answer(w, &b, err)
}

// bloomOf is a bloom filter at its whole length, unless it is empty.
func bloomOf(b []byte) string {
	if n := len(b); n > 0 && n < bloomSize {
		b = append(make([]byte, bloomSize-n), b...)
	}
	return hexOf(b)
}

type tokenFullDTO struct {
	AdminKey          *keyDTO        `json:"admin_key"`
	AutoRenewAccount  *string        `json:"auto_renew_account"`
	AutoRenewPeriod   *int64         `json:"auto_renew_period"`
	CreatedTimestamp  *string        `json:"created_timestamp"`
	CustomFees        *customFeesDTO `json:"custom_fees"`
	Decimals          string         `json:"decimals"`
	Deleted           *bool          `json:"deleted"`
	ExpiryTimestamp   *int64         `json:"expiry_timestamp"`
	FeeScheduleKey    *keyDTO        `json:"fee_schedule_key"`
	FreezeDefault     bool           `json:"freeze_default"`
	FreezeKey         *keyDTO        `json:"freeze_key"`
	InitialSupply     int64          `json:"initial_supply,string"`
	KYCKey            *keyDTO        `json:"kyc_key"`
	MaxSupply         int64          `json:"max_supply,string"`
	Memo              string         `json:"memo"`
	Metadata          []byte         `json:"metadata"`
	MetadataKey       *keyDTO        `json:"metadata_key"`
	ModifiedTimestamp *string        `json:"modified_timestamp"`
	Name              string         `json:"name"`
	PauseKey          *keyDTO        `json:"pause_key"`
	PauseStatus       string         `json:"pause_status"`
	SupplyKey         *keyDTO        `json:"supply_key"`
	SupplyType        string         `json:"supply_type"`
	Symbol            string         `json:"symbol"`
	TokenID           string         `json:"token_id"`
	TotalSupply       int64          `json:"total_supply,string"`
	TreasuryAccountID *string        `json:"treasury_account_id"`
	Type              string         `json:"type"`
	WipeKey           *keyDTO        `json:"wipe_key"`
}

type customFeesDTO struct {
	CreatedTimestamp *string       `json:"created_timestamp"`
	FixedFees        []fixedFeeDTO `json:"fixed_fees"`
	FractionalFees   []struct{}    `json:"fractional_fees"` // the token that is compared has none
}

type fixedFeeDTO struct {
	AllCollectorsAreExempt bool    `json:"all_collectors_are_exempt"`
	Amount                 int64   `json:"amount"`
	CollectorAccountID     *string `json:"collector_account_id"`
	DenominatingTokenID    *string `json:"denominating_token_id"`
}

func (h *hand) token(w http.ResponseWriter, r *http.Request) {
	id, err := ledger.ParseEntityID(r.PathValue("id"), 0)
	if err != nil {
		answer(w, nil, err)
		return
	}
	t := tokenFullDTO{TokenID: id.String()}
	var admin, schedule, freeze, kyc, metadata, pause, supply, wipe, fixed []byte
	var renew, created, expires, modified, treasury, feesSince *int64
	var decimals int64
	err = h.pool.QueryRow(r.Context(), `select e.key, e.auto_renew_account_id, e.auto_renew_period, t.created_timestamp, t.decimals, e.deleted, e.expiration_timestamp,
  t.fee_schedule_key, t.freeze_default, t.freeze_key, t.initial_supply, t.kyc_key, t.max_supply, e.memo, t.metadata, t.metadata_key,
  greatest(lower(t.timestamp_range), lower(e.timestamp_range)), t.name, t.pause_key, t.pause_status, t.supply_key, t.supply_type, t.symbol, t.total_supply,
  t.treasury_account_id, t.type, t.wipe_key, f.fixed_fees, lower(f.timestamp_range)
from token t join entity e on e.id = t.token_id left join custom_fee f on f.entity_id = t.token_id where t.token_id = $1`, int64(id)).
		Scan(&admin, &renew, &t.AutoRenewPeriod, &created, &decimals, &t.Deleted, &expires, &schedule,
			&t.FreezeDefault, &freeze, &t.InitialSupply, &kyc,
			&t.MaxSupply, &t.Memo, &t.Metadata, &metadata, &modified, &t.Name, &pause, &t.PauseStatus, &supply,
			&t.SupplyType, &t.Symbol, &t.TotalSupply,
			&treasury, &t.Type, &wipe, &fixed, &feesSince)
	if t.Metadata == nil {
		t.Metadata = []byte{}
	}
	t.AdminKey, t.FeeScheduleKey, t.FreezeKey, t.KYCKey = keyOf(admin), keyOf(schedule), keyOf(freeze), keyOf(kyc)
	t.MetadataKey, t.PauseKey, t.SupplyKey, t.WipeKey = keyOf(metadata), keyOf(pause), keyOf(supply), keyOf(wipe)
	t.AutoRenewAccount, t.TreasuryAccountID, t.Decimals = idOf(renew), idOf(treasury), strconv.FormatInt(decimals, 10)
	t.CreatedTimestamp, t.ModifiedTimestamp, t.ExpiryTimestamp = timeOf(created), timeOf(modified), expires
	if expires == nil && created != nil && t.AutoRenewPeriod != nil {
		at := *created + *t.AutoRenewPeriod*1_000_000_000
		t.ExpiryTimestamp = &at
	}
	if feesSince != nil {
		t.CustomFees = &customFeesDTO{
			CreatedTimestamp: timeOf(feesSince), FixedFees: []fixedFeeDTO{},
			FractionalFees: []struct{}{},
		}
		var fees []struct {
			AllCollectorsAreExempt bool   `json:"all_collectors_are_exempt"`
			Amount                 int64  `json:"amount"`
			CollectorAccountID     *int64 `json:"collector_account_id"`
			DenominatingTokenID    *int64 `json:"denominating_token_id"`
		}
		if fixed != nil && err == nil {
			err = json.Unmarshal(fixed, &fees)
		}
		for _, f := range fees {
			t.CustomFees.FixedFees = append(t.CustomFees.FixedFees,
				fixedFeeDTO{
					f.AllCollectorsAreExempt, f.Amount, idOf(f.CollectorAccountID),
					idOf(f.DenominatingTokenID),
				})
		}
	}
	answer(w, &t, err)
}

type resultDTO struct {
	Address              *string          `json:"address"`
	Amount               json.RawMessage  `json:"amount"`
	Bloom                string           `json:"bloom"`
	CallResult           string           `json:"call_result"`
	Child                bool             `json:"child"`
	ContractID           *string          `json:"contract_id"`
	CreatedContractIDs   []string         `json:"created_contract_ids"`
	ErrorMessage         *string          `json:"error_message"`
	From                 *string          `json:"from"`
	FunctionParameters   string           `json:"function_parameters"`
	GasConsumed          *int64           `json:"gas_consumed"`
	GasLimit             int64            `json:"gas_limit"`
	GasUsed              *int64           `json:"gas_used"`
	Timestamp            string           `json:"timestamp"`
	To                   *string          `json:"to"`
	Hash                 string           `json:"hash"`
	BlockHash            string           `json:"block_hash"`
	BlockNumber          *int64           `json:"block_number"`
	Logs                 []logDTO         `json:"logs"`
	Result               string           `json:"result"`
	TransactionIndex     *int32           `json:"transaction_index"`
	StateChanges         []stateChangeDTO `json:"state_changes"`
	Status               string           `json:"status"`
	FailedInitcode       *string          `json:"failed_initcode"`
	AccessList           json.RawMessage  `json:"access_list"`
	BlockGasUsed         *int64           `json:"block_gas_used"`
	ChainID              string           `json:"chain_id"`
	GasPrice             string           `json:"gas_price"`
	MaxFeePerGas         string           `json:"max_fee_per_gas"`
	MaxPriorityFeePerGas string           `json:"max_priority_fee_per_gas"`
	R                    string           `json:"r"`
	S                    string           `json:"s"`
	Type                 int32            `json:"type"`
	V                    json.RawMessage  `json:"v"`
	Nonce                int64            `json:"nonce"`
}

type logDTO struct {
	Address    *string  `json:"address"`
	Bloom      string   `json:"bloom"`
	ContractID *string  `json:"contract_id"`
	Data       string   `json:"data"`
	Index      int64    `json:"index"`
	Topics     []string `json:"topics"`
}

type stateChangeDTO struct {
	Address      *string `json:"address"`
	ContractID   *string `json:"contract_id"`
	Slot         string  `json:"slot"`
	ValueRead    string  `json:"value_read"`
	ValueWritten *string `json:"value_written"`
}

// addressText is the assigned EVM address of an entity, else its long-zero address.
func addressText(assigned []byte, id *int64) *string {
	if id == nil || *id == 0 {
		return nil
	}
	if assigned == nil {
		a := ledger.EntityID(*id).LongZero()
		assigned = a[:]
	}
	s := hexOf(assigned)
	return &s
}

func wordOf(b []byte) string {
	if n := len(b); n < wordSize {
		b = append(make([]byte, wordSize-n), b...)
	}
	return hexOf(b)
}

// result implements results of Ethereum transactions whose call data is in the transaction.
func (h *hand) result(w http.ResponseWriter, r *http.Request) {
	hash, err := hex.DecodeString(strings.TrimPrefix(r.PathValue("hash"), "0x"))
	if err != nil {
		answer(w, nil, err)
		return
	}
	var d resultDTO
	var e ledger.EthereumTransaction
	var at, party, payer int64
	var address, bloom, called, function, stored, initcode, calldata []byte
	var amount, contract, sender, nonce *int64
	var created []int64
	var code int16
	var recovery *int16
	if err = h.pool.QueryRow(r.Context(), `select h.entity_id, h.payer_account_id, cr.consensus_timestamp, e.evm_address, cr.amount, cr.bloom, cr.call_result,
  cr.contract_id, cr.created_contract_ids, cr.error_message, cr.failed_initcode, cr.function_parameters, cr.gas_consumed, cr.gas_used, cr.sender_id,
  cr.transaction_hash, cr.transaction_index, cr.transaction_result, '0x' || r.hash, r.index, nullif(r.gas_used, -1), et.access_list::text, et.call_data,
  et.chain_id, et.gas_limit, et.gas_price, et.max_fee_per_gas, et.max_priority_fee_per_gas, et.nonce, et.recovery_id, et.signature_r, et.signature_s,
  et.signature_v, et.to_address, et.type, et.value,
  coalesce((select t.parent_consensus_timestamp is not null from transaction t where t.consensus_timestamp = cr.consensus_timestamp), false)
from (select * from contract_transaction_hash where hash = $1 order by (transaction_result = 22) desc, consensus_timestamp desc limit 1) h
join contract_transaction ct on ct.consensus_timestamp = h.consensus_timestamp and ct.entity_id = h.entity_id
cross join lateral (select * from contract_result c where c.consensus_timestamp = h.consensus_timestamp
  and (c.contract_id = any(ct.contract_ids) or cardinality(ct.contract_ids) = 0) order by c.contract_id limit 1) cr
join ethereum_transaction et on et.consensus_timestamp = h.consensus_timestamp
left join entity e on e.id = cr.contract_id
left join lateral (select * from record_file where consensus_end >= cr.consensus_timestamp order by consensus_end limit 1) r on true`, hash).
		Scan(&party, &payer, &at, &address, &amount, &bloom, &called, &contract, &created, &d.ErrorMessage, &initcode,
			&function, &d.GasConsumed, &d.GasUsed, &sender,
			&stored, &d.TransactionIndex, &code, &d.BlockHash, &d.BlockNumber, &d.BlockGasUsed, &d.AccessList,
			&calldata, &e.ChainID, &d.GasLimit, &e.GasPrice,
			&e.MaxFeePerGas, &e.MaxPriorityFeePerGas, &nonce, &recovery, &e.SignatureR, &e.SignatureS, &e.SignatureV,
			&e.ToAddress, &e.Type,
			&e.Value, &d.Child); err != nil {
		answer(w, nil, err)
		return
	}
	if recovery != nil {
		e.RecoveryID = ledger.Of(*recovery)
	}
	of := ledger.ContractResult{
		Ethereum: &e, ContractID: ledger.EntityID(zero(contract)),
		Result: ledger.ResponseCode(code),
	}
	d.Address, d.Bloom, d.CallResult = addressText(address, contract), bloomOf(bloom), hexOf(called)
	d.ContractID, d.CreatedContractIDs = idOf(contract), []string{}
	if len(bloom) == 0 {
		d.Bloom = hexOf(make([]byte, bloomSize))
	}
	for _, id := range created {
		d.CreatedContractIDs = append(d.CreatedContractIDs, ledger.EntityID(id).String())
	}
	d.From, d.To, d.Hash, d.Timestamp = addressText(nil, sender), addressText(of.To(), contract), hexOf(stored),
		ledger.Timestamp(at).String()
	if d.FunctionParameters = hexOf(calldata); len(calldata) == 0 {
		d.FunctionParameters = hexOf(function)
	}
	d.Result, d.Status, d.Amount = of.Result.String(), string(of.Status()), numberOf(of.Value())
	if initcode != nil {
		s := hexOf(initcode)
		d.FailedInitcode = &s
	} else if code != ok {
		d.FailedInitcode = &d.FunctionParameters
	}
	if d.AccessList == nil {
		d.AccessList = json.RawMessage("[]")
	}
	d.ChainID, d.GasPrice = string(of.ChainID()), string(e.GasPriceTinybar())
	d.MaxFeePerGas, d.MaxPriorityFeePerGas = string(of.MaxFeePerGas()), string(of.MaxPriorityFeePerGas())
	d.R, d.S, d.Type, d.V, d.Nonce = hexOf(e.SignatureR), hexOf(e.SignatureS), int32(e.Type), numberOf(of.V()),
		zero(nonce)
	answer(w, &d, h.partsOfResult(r.Context(), at, party, &d))
}

func zero(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

func numberOf(v ledger.Integer) json.RawMessage {
	if v == "" {
		return json.RawMessage("null")
	}
	return json.RawMessage(v)
}

// partsOfResult reads the logs and the changes of state of a contract result.
func (h *hand) partsOfResult(ctx context.Context, at, party int64, d *resultDTO) error {
	d.Logs, d.StateChanges = []logDTO{}, []stateChangeDTO{}
	var b pgx.Batch
	var address, bloom, data, slot, read, written []byte
	var topics [4][]byte
	var contract *int64
	var index int64
	b.Queue(`select e.evm_address, l.bloom, l.contract_id, l.data, l.index, l.topic0, l.topic1, l.topic2, l.topic3 from contract_transaction ct
join contract_log l on l.consensus_timestamp = ct.consensus_timestamp and (cardinality(ct.contract_ids) = 0 or l.contract_id = any(ct.contract_ids))
left join entity e on e.id = l.contract_id where ct.consensus_timestamp = $1 and ct.entity_id = $2 order by l.index`, at, party).
		Query(each([]any{&address, &bloom, &contract, &data, &index, &topics[0], &topics[1], &topics[2], &topics[3]},
			func() {
				l := logDTO{addressText(address, contract), hexOf(bloom), idOf(contract), "0x", index, []string{}}
				if len(data) > 0 {
					l.Data = wordOf(data)
				}
				for _, t := range topics {
					if t != nil {
						l.Topics = append(l.Topics, wordOf(t))
					}
				}
				d.Logs = append(d.Logs, l)
			}))
	b.Queue(`select e.evm_address, s.contract_id, s.slot, s.value_read, s.value_written from contract_transaction ct
join contract_state_change s on s.consensus_timestamp = ct.consensus_timestamp and not s.migration and s.contract_id = any(ct.contract_ids)
left join entity e on e.id = s.contract_id where ct.consensus_timestamp = $1 and ct.entity_id = $2 order by s.contract_id, s.slot`, at, party).
		Query(each([]any{&address, &contract, &slot, &read, &written}, func() {
			c := stateChangeDTO{addressText(address, contract), idOf(contract), wordOf(slot), wordOf(read), nil}
			if written != nil {
				s := wordOf(written)
				c.ValueWritten = &s
			}
			d.StateChanges = append(d.StateChanges, c)
		}))
	return h.pool.SendBatch(ctx, &b).Close()
}
