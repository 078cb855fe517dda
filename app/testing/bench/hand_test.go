package bench

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"heliograph/internal/domain/ledger"
)

// tokensPerAccount is how many token balances an account shows in a list.
const tokensPerAccount = 50

// hand implements some requests without the gateway, as a reference: structs for encoding/json, prepared statements,
// children of a page in one statement each, no validation.
type hand struct{ pool *pgxpool.Pool }

func handWritten(pool *pgxpool.Pool) http.Handler {
	h := &hand{pool}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/accounts", h.accounts)
	mux.HandleFunc("GET /api/v1/transactions", h.transactions)
	mux.HandleFunc("GET /api/v1/topics/{id}/messages", h.messages)
	mux.HandleFunc("GET /api/v1/blocks", h.blocks)
	mux.HandleFunc("GET /api/v1/accounts/{id}", h.account)
	mux.HandleFunc("GET /api/v1/transactions/{id}", h.transaction)
	mux.HandleFunc("GET /api/v1/contracts/results/{hash}", h.result)
	mux.HandleFunc("GET /api/v1/tokens/{id}", h.token)
	mux.HandleFunc("GET /api/v1/blocks/{number}", h.block)
	return mux
}

// limitOf is the parameter limit.
func limitOf(r *http.Request) int {
	if n, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil {
		return n
	}
	return pageSize
}

type links struct {
	Next *string `json:"next"`
}

// linkTo continues a full page at a place.
func linkTo(r *http.Request, full bool, place string) links {
	if !full {
		return links{}
	}
	next := r.URL.Path + "?"
	if r.URL.RawQuery != "" {
		next += r.URL.RawQuery + "&"
	}
	next += place
	return links{&next}
}

// chopped drops the line feed that encoding/json ends with.
type chopped struct{ http.ResponseWriter }

func (c chopped) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b[:len(b)-1])
	return n + 1, err
}

// answer writes a body, or status 500 if err is not nil.
func answer(w http.ResponseWriter, body any, err error) {
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	e := json.NewEncoder(chopped{w})
	e.SetEscapeHTML(false)
	_ = e.Encode(body)
}

type keyDTO struct {
	Type string `json:"_type"`
	Key  string `json:"key"`
}

func keyOf(b []byte) *keyDTO {
	k := ledger.Key(b)
	if k.IsNone() {
		return nil
	}
	t, raw := k.Decode()
	return &keyDTO{string(t), hex.EncodeToString(raw)}
}

func idOf(id *int64) *string {
	if id == nil || ledger.EntityID(*id).IsNone() {
		return nil
	}
	s := ledger.EntityID(*id).String()
	return &s
}

func timeOf(t *int64) *string {
	if t == nil {
		return nil
	}
	s := ledger.Timestamp(*t).String()
	return &s
}

func hexOf(b []byte) string { return "0x" + hex.EncodeToString(b) }

type blockDTO struct {
	Count        int64   `json:"count"`
	HapiVersion  *string `json:"hapi_version"`
	Hash         string  `json:"hash"`
	Name         string  `json:"name"`
	Number       int64   `json:"number"`
	PreviousHash string  `json:"previous_hash"`
	ReceiptsRoot *string `json:"receipts_root"`
	Size         *int64  `json:"size"`
	Timestamp    struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"timestamp"`
	GasUsed   *int64  `json:"gas_used"`
	LogsBloom *string `json:"logs_bloom"`
}

func (h *hand) blocks(w http.ResponseWriter, r *http.Request) {
	limit := limitOf(r)
	rows, err := h.pool.Query(r.Context(), `select count, hapi_version_major || '.' || hapi_version_minor || '.' || hapi_version_patch, '0x' || hash, name, index,
  '0x' || prev_hash, coalesce(size, length(bytes)), consensus_start, consensus_end, nullif(gas_used, -1), logs_bloom, '0x' || encode(receipts_root, 'hex')
from record_file order by consensus_end desc, index desc limit $1`, limit)
	if err != nil {
		answer(w, nil, err)
		return
	}
	var body struct {
		Blocks []blockDTO `json:"blocks"`
		Links  links      `json:"links"`
	}
	body.Blocks = make([]blockDTO, 0, limit)
	var b blockDTO
	var from, to int64
	var bloom []byte
	_, err = pgx.ForEachRow(rows, []any{
		&b.Count, &b.HapiVersion, &b.Hash, &b.Name, &b.Number, &b.PreviousHash, &b.Size, &from, &to, &b.GasUsed,
		&bloom, &b.ReceiptsRoot,
	}, func() error {
		b.Timestamp.From, b.Timestamp.To = ledger.Timestamp(from).String(), ledger.Timestamp(to).String()
		b.LogsBloom = nil
		if bloom != nil {
			if n := len(bloom); n > 0 && n < 256 {
				bloom = append(make([]byte, 256-n), bloom...)
			}
			s := hexOf(bloom)
			b.LogsBloom = &s
		}
		body.Blocks = append(body.Blocks, b)
		return nil
	})
	if n := len(body.Blocks); n == limit {
		body.Links = linkTo(r, true, "block.number=lt:"+strconv.FormatInt(body.Blocks[n-1].Number, 10))
	}
	answer(w, &body, err)
}

type messageDTO struct {
	ChunkInfo          *chunkDTO `json:"chunk_info"`
	ConsensusTimestamp string    `json:"consensus_timestamp"`
	Message            []byte    `json:"message"`
	PayerAccountID     *string   `json:"payer_account_id"`
	RunningHash        []byte    `json:"running_hash"`
	RunningHashVersion int32     `json:"running_hash_version"`
	SequenceNumber     int64     `json:"sequence_number"`
	TopicID            string    `json:"topic_id"`
}

type chunkDTO struct {
	InitialTransactionID initialDTO `json:"initial_transaction_id"`
	Number               int32      `json:"number"`
	Total                *int32     `json:"total"`
}

type initialDTO struct {
	AccountID             *string `json:"account_id"`
	Nonce                 *int32  `json:"nonce"`
	Scheduled             *bool   `json:"scheduled"`
	TransactionValidStart *string `json:"transaction_valid_start"`
}

func (h *hand) messages(w http.ResponseWriter, r *http.Request) {
	limit := limitOf(r)
	topic, err := ledger.ParseEntityID(r.PathValue("id"), 0)
	if err != nil {
		answer(w, nil, err)
		return
	}
	rows, err := h.pool.Query(r.Context(), `select chunk_num, chunk_total, consensus_timestamp, initial_transaction_id, message, payer_account_id, running_hash,
  coalesce(running_hash_version, 3), sequence_number, valid_start_timestamp
from topic_message where topic_id = $1 order by consensus_timestamp limit $2`, int64(topic), limit)
	if err != nil {
		answer(w, nil, err)
		return
	}
	var body struct {
		Messages []messageDTO `json:"messages"`
		Links    links        `json:"links"`
	}
	body.Messages = make([]messageDTO, 0, limit)
	m := messageDTO{TopicID: topic.String()}
	var number, total *int32
	var at int64
	var initial []byte
	var payer, start *int64
	_, err = pgx.ForEachRow(rows, []any{
		&number, &total, &at, &initial, &m.Message, &payer, &m.RunningHash, &m.RunningHashVersion, &m.SequenceNumber,
		&start,
	}, func() error {
		m.ConsensusTimestamp, m.PayerAccountID, m.ChunkInfo = ledger.Timestamp(at).String(), idOf(payer), nil
		if number != nil {
			m.ChunkInfo = &chunkDTO{Number: *number, Total: total}
			id := &m.ChunkInfo.InitialTransactionID
			id.AccountID, id.TransactionValidStart = m.PayerAccountID, timeOf(start)
			if initial != nil {
				got, err := ledger.DecodeTransactionID(initial)
				if err != nil {
					return err
				}
				id.AccountID, id.TransactionValidStart = idOf((*int64)(&got.AccountID)), nil
				if got.Nonce.Valid {
					id.Nonce = &got.Nonce.V
				}
				if got.Scheduled.Valid {
					id.Scheduled = &got.Scheduled.V
				}
				if got.TransactionValidStart.Valid {
					id.TransactionValidStart = timeOf((*int64)(&got.TransactionValidStart.V))
				}
			}
		}
		body.Messages = append(body.Messages, m)
		return nil
	})
	if n := len(body.Messages); n == limit {
		body.Links = linkTo(r, true, "timestamp=gt:"+body.Messages[n-1].ConsensusTimestamp)
	}
	answer(w, &body, err)
}

type accountDTO struct {
	Account                       string     `json:"account"`
	Alias                         *string    `json:"alias"`
	AutoRenewPeriod               *int64     `json:"auto_renew_period"`
	Balance                       balanceDTO `json:"balance"`
	CreatedTimestamp              *string    `json:"created_timestamp"`
	DeclineReward                 bool       `json:"decline_reward"`
	Deleted                       *bool      `json:"deleted"`
	EthereumNonce                 *int64     `json:"ethereum_nonce"`
	EVMAddress                    string     `json:"evm_address"`
	ExpiryTimestamp               *string    `json:"expiry_timestamp"`
	Key                           *keyDTO    `json:"key"`
	MaxAutomaticTokenAssociations *int32     `json:"max_automatic_token_associations"`
	Memo                          string     `json:"memo"`
	PendingReward                 int64      `json:"pending_reward"`
	ReceiverSigRequired           *bool      `json:"receiver_sig_required"`
	StakedAccountID               *string    `json:"staked_account_id"`
	StakedNodeID                  *int64     `json:"staked_node_id"`
	StakePeriodStart              *string    `json:"stake_period_start"`
}

type balanceDTO struct {
	Balance   *int64     `json:"balance"`
	Timestamp *string    `json:"timestamp"`
	Tokens    []tokenDTO `json:"tokens"`
}

type tokenDTO struct {
	TokenID string `json:"token_id"`
	Balance int64  `json:"balance"`
}

// accountScan is what a row of an account is read into.
type accountScan struct {
	id                                                        int64
	alias, address, key                                       []byte
	created, expires, staked, periodStart, pending, periodEnd *int64
	balanceAt                                                 *int64
	dto                                                       accountDTO
}

func (s *accountScan) targets() []any {
	return []any{
		&s.id, &s.alias, &s.dto.AutoRenewPeriod, &s.dto.Balance.Balance, &s.balanceAt, &s.created,
		&s.dto.DeclineReward, &s.dto.Deleted,
		&s.dto.EthereumNonce, &s.address, &s.expires, &s.key, &s.dto.MaxAutomaticTokenAssociations, &s.dto.Memo,
		&s.pending, &s.periodEnd,
		&s.dto.ReceiverSigRequired, &s.staked, &s.dto.StakedNodeID, &s.periodStart,
	}
}

// finish computes what the database does not hold.
func (s *accountScan) finish() accountDTO {
	a := s.dto
	id := ledger.EntityID(s.id)
	a.Account, a.CreatedTimestamp, a.Balance.Timestamp = id.String(), timeOf(s.created), timeOf(s.balanceAt)
	a.Balance.Tokens = []tokenDTO{}
	if s.alias != nil {
		text := ledger.Alias(s.alias).String()
		a.Alias = &text
	}
	switch {
	case len(s.address) == 20:
		a.EVMAddress = hexOf(s.address)
	case len(s.alias) == 20:
		a.EVMAddress = hexOf(s.alias)
	default:
		address := id.LongZero()
		a.EVMAddress = hexOf(address[:])
	}
	a.ExpiryTimestamp = timeOf(s.expires)
	if s.expires == nil && s.created != nil && a.AutoRenewPeriod != nil {
		at := *s.created + *a.AutoRenewPeriod*1_000_000_000
		a.ExpiryTimestamp = timeOf(&at)
	}
	a.Key, a.StakedAccountID = keyOf(s.key), idOf(s.staked)
	if a.StakedNodeID != nil && *a.StakedNodeID == -1 {
		a.StakedNodeID = nil
	}
	if a.StakedNodeID != nil && s.periodStart != nil && *s.periodStart != -1 {
		at := *s.periodStart * 86400 * 1_000_000_000
		a.StakePeriodStart = timeOf(&at)
	}
	waiting := s.periodStart != nil && s.periodEnd != nil && *s.periodStart >= *s.periodEnd
	if !a.DeclineReward && a.StakedNodeID != nil && !waiting && s.pending != nil {
		a.PendingReward = *s.pending
	}
	return a
}

func (h *hand) accounts(w http.ResponseWriter, r *http.Request) {
	limit := limitOf(r)
	rows, err := h.pool.Query(r.Context(), `select e.id, e.alias, e.auto_renew_period, e.balance, e.balance_timestamp, e.created_timestamp, e.decline_reward, e.deleted,
  e.ethereum_nonce, e.evm_address, e.expiration_timestamp, e.key, e.max_automatic_token_associations, e.memo, s.pending_reward, s.end_stake_period,
  e.receiver_sig_required, e.staked_account_id, e.staked_node_id, e.stake_period_start
from (select * from entity where type in ('ACCOUNT', 'CONTRACT') and not (num = 2 and memo = 'Mirror node created synthetic treasury account') order by id limit $1) e
left join entity_stake s on s.id = e.id order by e.id`, limit)
	if err != nil {
		answer(w, nil, err)
		return
	}
	var body struct {
		Accounts []accountDTO `json:"accounts"`
		Links    links        `json:"links"`
	}
	body.Accounts = make([]accountDTO, 0, limit)
	ids := make([]int64, 0, limit)
	var s accountScan
	if _, err = pgx.ForEachRow(rows, s.targets(), func() error {
		body.Accounts, ids = append(body.Accounts, s.finish()), append(ids, s.id)
		return nil
	}); err == nil {
		err = h.tokens(r.Context(), ids, body.Accounts)
	}
	if n := len(body.Accounts); n == limit {
		body.Links = linkTo(r, true, "account.id=gt:"+body.Accounts[n-1].Account)
	}
	answer(w, &body, err)
}

// tokens reads what the accounts with some ids hold.
func (h *hand) tokens(ctx context.Context, ids []int64, accounts []accountDTO) error {
	rows, err := h.pool.Query(ctx, `select a.ord, t.token_id, t.balance from unnest($1::bigint[]) with ordinality a(id, ord)
cross join lateral (select token_id, balance from token_account where account_id = a.id and associated order by token_id limit $2) t
order by a.ord, t.token_id`, ids, tokensPerAccount)
	if err != nil {
		return err
	}
	var at, token, balance int64
	_, err = pgx.ForEachRow(rows, []any{&at, &token, &balance}, func() error {
		a := &accounts[at-1].Balance
		a.Tokens = append(a.Tokens, tokenDTO{ledger.EntityID(token).String(), balance})
		return nil
	})
	return err
}

// each returns the reader of a result of a batch that scans each row into targets and calls row.
func each(targets []any, row func()) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, targets, func() error { row(); return nil })
		return err
	}
}
