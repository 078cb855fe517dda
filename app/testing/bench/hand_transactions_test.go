package bench

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
)

type transactionDTO struct {
	BatchKey                    *keyDTO            `json:"batch_key"`
	Bytes                       []byte             `json:"bytes"`
	ChargedTxFee                *int64             `json:"charged_tx_fee"`
	ConsensusTimestamp          string             `json:"consensus_timestamp"`
	EntityID                    *string            `json:"entity_id"`
	HighVolume                  bool               `json:"high_volume"`
	HighVolumePricingMultiplier *int64             `json:"high_volume_pricing_multiplier"`
	MaxFee                      *int64             `json:"max_fee,string"`
	MaxCustomFees               []customFeeDTO     `json:"max_custom_fees"`
	Memo                        []byte             `json:"memo_base64"`
	Name                        string             `json:"name"`
	NFTTransfers                []nftTransferDTO   `json:"nft_transfers"`
	Node                        *string            `json:"node"`
	Nonce                       int32              `json:"nonce"`
	ParentConsensusTimestamp    *string            `json:"parent_consensus_timestamp"`
	Result                      string             `json:"result"`
	Scheduled                   bool               `json:"scheduled"`
	StakingRewardTransfers      []rewardDTO        `json:"staking_reward_transfers"`
	TokenTransfers              []tokenTransferDTO `json:"token_transfers"`
	TransactionHash             []byte             `json:"transaction_hash"`
	TransactionID               string             `json:"transaction_id"`
	Transfers                   []transferDTO      `json:"transfers"`
	ValidDurationSeconds        *int64             `json:"valid_duration_seconds,string"`
	ValidStartTimestamp         string             `json:"valid_start_timestamp"`
}

type customFeeDTO struct {
	AccountID           *string `json:"account_id"`
	Amount              int64   `json:"amount"`
	DenominatingTokenID *string `json:"denominating_token_id"`
}

type nftTransferDTO struct {
	IsApproval        bool    `json:"is_approval"`
	ReceiverAccountID *string `json:"receiver_account_id"`
	SenderAccountID   *string `json:"sender_account_id"`
	SerialNumber      int64   `json:"serial_number"`
	TokenID           *string `json:"token_id"`
}

type rewardDTO struct {
	Account string `json:"account"`
	Amount  int64  `json:"amount"`
}

type tokenTransferDTO struct {
	TokenID    string `json:"token_id"`
	Account    string `json:"account"`
	Amount     int64  `json:"amount"`
	IsApproval bool   `json:"is_approval"`
}

type transferDTO struct {
	Account    *string `json:"account"`
	Amount     int64   `json:"amount"`
	IsApproval bool    `json:"is_approval"`
}

// transactionScan is what a row of a transaction is read into.
type transactionScan struct {
	at, payer, start     int64
	typ, result          int16
	batchKey, nfts       []byte
	entity, node, parent *int64
	customFees           [][]byte
	dto                  transactionDTO
}

func (s *transactionScan) targets() []any {
	return []any{
		&s.at, &s.payer, &s.start, &s.typ, &s.result, &s.batchKey, &s.dto.Bytes, &s.dto.ChargedTxFee, &s.entity,
		&s.dto.HighVolume,
		&s.dto.HighVolumePricingMultiplier, &s.customFees, &s.dto.MaxFee, &s.dto.Memo, &s.nfts, &s.node, &s.dto.Nonce,
		&s.parent,
		&s.dto.Scheduled, &s.dto.TransactionHash, &s.dto.ValidDurationSeconds,
	}
}

func (s *transactionScan) finish() (transactionDTO, error) {
	t := s.dto
	start := ledger.Timestamp(s.start)
	t.ConsensusTimestamp, t.ValidStartTimestamp = ledger.Timestamp(s.at).String(), start.String()
	t.TransactionID = ledger.TransactionID{Payer: ledger.EntityID(s.payer), ValidStart: start}.String()
	t.Name, t.Result = ledger.TransactionType(s.typ).String(), ledger.ResponseCode(s.result).String()
	t.BatchKey, t.EntityID, t.Node, t.ParentConsensusTimestamp = keyOf(s.batchKey), idOf(s.entity), idOf(s.node),
		timeOf(s.parent)
	t.MaxCustomFees, t.NFTTransfers = []customFeeDTO{}, []nftTransferDTO{}
	t.StakingRewardTransfers, t.TokenTransfers, t.Transfers = []rewardDTO{}, []tokenTransferDTO{}, []transferDTO{}
	for _, b := range s.customFees {
		fees, err := ledger.DecodeCustomFeeLimit(b)
		if err != nil {
			return t, err
		}
		for _, f := range fees {
			t.MaxCustomFees = append(t.MaxCustomFees,
				customFeeDTO{idOf((*int64)(&f.AccountID)), f.Amount, idOf((*int64)(&f.DenominatingTokenID))})
		}
	}
	if s.nfts == nil {
		return t, nil
	}
	var moved []struct {
		IsApproval        bool   `json:"is_approval"`
		ReceiverAccountID *int64 `json:"receiver_account_id"`
		SenderAccountID   *int64 `json:"sender_account_id"`
		SerialNumber      int64  `json:"serial_number"`
		TokenID           *int64 `json:"token_id"`
	}
	if err := json.Unmarshal(s.nfts, &moved); err != nil {
		return t, err
	}
	for _, m := range moved {
		t.NFTTransfers = append(t.NFTTransfers, nftTransferDTO{
			m.IsApproval, idOf(m.ReceiverAccountID),
			idOf(m.SenderAccountID), m.SerialNumber, idOf(m.TokenID),
		})
	}
	return t, nil
}

func (h *hand) transactions(w http.ResponseWriter, r *http.Request) {
	limit := limitOf(r)
	rows, err := h.pool.Query(r.Context(), `select consensus_timestamp, payer_account_id, valid_start_ns, type, result, batch_key, transaction_bytes, charged_tx_fee,
  entity_id, high_volume, high_volume_pricing_multiplier, max_custom_fees, max_fee, memo, nft_transfer, node_account_id, nonce, parent_consensus_timestamp,
  scheduled, transaction_hash, valid_duration_seconds
from transaction order by consensus_timestamp desc limit $1`, limit)
	if err != nil {
		answer(w, nil, err)
		return
	}
	var body struct {
		Transactions []transactionDTO `json:"transactions"`
		Links        links            `json:"links"`
	}
	body.Transactions = make([]transactionDTO, 0, limit)
	times, payers := make([]int64, 0, limit), make([]int64, 0, limit)
	var s transactionScan
	if _, err = pgx.ForEachRow(rows, s.targets(), func() error {
		t, err := s.finish()
		body.Transactions, times, payers = append(body.Transactions, t), append(times, s.at), append(payers, s.payer)
		return err
	}); err == nil {
		err = h.transfers(r.Context(), times, payers, body.Transactions)
	}
	if n := len(body.Transactions); n == limit {
		body.Links = linkTo(r, true, "timestamp=lt:"+body.Transactions[n-1].ConsensusTimestamp)
	}
	answer(w, &body, err)
}

// transfers reads what the transactions of some consensus times moved, in one round trip.
func (h *hand) transfers(ctx context.Context, times, payers []int64, of []transactionDTO) error {
	place := make(map[int64]*transactionDTO, len(times))
	for i, at := range times {
		place[at] = &of[i]
	}
	var batch pgx.Batch
	var at, token, holder, amount int64
	var account *int64
	var approved bool
	batch.Queue(`select consensus_timestamp, entity_id, amount, coalesce(is_approval, false) from crypto_transfer
where consensus_timestamp = any($1) and payer_account_id = any($2) order by consensus_timestamp, entity_id, amount`, times, payers).
		Query(each([]any{&at, &account, &amount, &approved}, func() {
			t := place[at]
			t.Transfers = append(t.Transfers, transferDTO{idOf(account), amount, approved})
		}))
	batch.Queue(`select consensus_timestamp, token_id, account_id, amount, coalesce(is_approval, false) from token_transfer
where consensus_timestamp = any($1) and payer_account_id = any($2) order by consensus_timestamp, token_id, account_id`, times, payers).
		Query(each([]any{&at, &token, &holder, &amount, &approved}, func() {
			t := place[at]
			t.TokenTransfers = append(t.TokenTransfers,
				tokenTransferDTO{ledger.EntityID(token).String(), ledger.EntityID(holder).String(), amount, approved})
		}))
	batch.Queue(`select consensus_timestamp, account_id, amount from staking_reward_transfer r where consensus_timestamp = any($1) and exists (
  select from crypto_transfer c where c.consensus_timestamp = r.consensus_timestamp and c.entity_id = 800) order by consensus_timestamp, account_id`, times).
		Query(each([]any{&at, &holder, &amount}, func() {
			t := place[at]
			t.StakingRewardTransfers = append(t.StakingRewardTransfers,
				rewardDTO{ledger.EntityID(holder).String(), amount})
		}))
	return h.pool.SendBatch(ctx, &batch).Close()
}
