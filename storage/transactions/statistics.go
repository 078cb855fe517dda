package transactions

import (
	"fmt"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
)

// maxStatistics is the maximum number of rows that statistics of an object read.
const maxStatistics = 200_000

// TooManyRowsError reports a range whose statistics would read too many rows.
type TooManyRowsError struct {
	Most  int64
	Until ledger.Timestamp // the latest end of a range that would not
}

// Error implements error.
func (e *TooManyRowsError) Error() string {
	return fmt.Sprintf("the statistics would read more than %d rows: the range must end at %s or before", e.Most, e.Until)
}

// Period has the number of rows of a period, and two sums over them. A sum that exceeds 64 bits is null.
type Period struct {
	Rows          int64
	First, Second ledger.Null[int64]
}

type periodRow struct {
	Period
	index int32            // from 1, or 0 for all rows that were read
	last  ledger.Timestamp // of the rows
}

var periodRows = storage.MapperOf(func(p *periodRow, into []any) []any {
	return append(into, &p.index, &p.Rows, &p.First, &p.Second, &p.last)
}, nil)

// Statistics counts rows by period. The rows are those of the object $1; the parameters of limits are the start and the end of the range, and the maximum
// number of rows plus one.
type Statistics struct {
	sql  string
	most int64 // 0 if the rows read do not depend on the range
}

const inRange = ` and consensus_timestamp >= $3 and consensus_timestamp < $4`

// The statistics. Their sums are named in brackets.
var (
	// PaidStatistics counts the transactions that an account paid for.
	PaidStatistics = countRows(`select consensus_timestamp as at from transaction where payer_account_id = $1`+inRange, `0`, `0`)
	// TransferStatistics counts the hbar transfers of an account (to it, from it). The index does not have those of the fee account.
	TransferStatistics = countRows(`select consensus_timestamp as at, amount from crypto_transfer where entity_id = $1 and entity_id <> 98`+inRange,
		`sum(amount) filter (where amount > 0)`, `-sum(amount) filter (where amount < 0)`)
	// RewardStatistics counts the staking rewards of an account (their amounts).
	RewardStatistics = countRows(`select consensus_timestamp as at, amount from staking_reward_transfer where account_id = $1`+inRange, `sum(amount)`, `0`)
	// ResultStatistics counts the results of a contract (gas).
	ResultStatistics = countRows(`select consensus_timestamp as at, gas_used from contract_result where contract_id = $1`+inRange, `sum(gas_used)`, `0`)
	// TokenStatistics counts transfers to accounts of one token (1 each, their amounts). The index begins with the time, so the transfers of all tokens are
	// read in it. If they are too many, the period 0 has the end of those that are not, and no other is read.
	TokenStatistics = Statistics{`with s as materialized (select consensus_timestamp as at from token_transfer where true` + inRange + `
  order by at offset $5 - 1 limit 1)
select 0, $5::bigint, 0::bigint, 0::bigint, at from s union all (` + periodsOf(`select consensus_timestamp as at, amount from token_transfer
  where token_id = $1 and amount > 0 and not exists (select from s)`+inRange, `count(*)`, `sum(amount)`) + `)`, maxStatistics}
	// MessageStatistics counts the messages of a topic by their sequence numbers, which have no gaps.
	MessageStatistics = Statistics{sql: `select i::int, n, 0::bigint, 0::bigint, 0::bigint from (
  select i, lead(seq) over (order by i) - seq as n from (
    select i, coalesce((select sequence_number from topic_message where topic_id = $1 and consensus_timestamp >= t order by consensus_timestamp limit 1),
      (select sequence_number + 1 from topic_message where topic_id = $1 order by sequence_number desc limit 1), 0) as seq
    from unnest($2::bigint[]) with ordinality b(t, i)) b) p
where n > 0`}
)

func countRows(rows, first, second string) Statistics {
	return Statistics{periodsOf(rows, first, second), maxStatistics}
}

func periodsOf(rows, first, second string) string {
	sum := func(of string) string {
		return `case when coalesce(` + of + `, 0) < 9223372036854775808 then coalesce(` + of + `, 0)::bigint end`
	}
	return `select width_bucket(at, $2::bigint[]), count(*), ` + sum(first) + `, ` + sum(second) + `, max(at) from (
  ` + rows + ` order by at limit $5) r group by 1`
}

// Queue queues a statement that counts the rows of an object in the periods between bounds. done receives one element for each period, or a
// [*TooManyRowsError].
func (s Statistics) Queue(b *storage.Batch, of ledger.EntityID, bounds []ledger.Timestamp, done func([]Period, error)) {
	args := []any{int64(of), storage.Int64s(bounds)}
	if s.most > 0 {
		args = append(args, int64(bounds[0]), int64(bounds[len(bounds)-1]), s.most+1)
	}
	periodRows.Queue(b, s.sql, args, func(rows []*periodRow) {
		periods, read, last := make([]Period, len(bounds)-1), int64(0), ledger.Timestamp(0)
		for i := range periods {
			periods[i].First.Valid, periods[i].Second.Valid = true, true
		}
		var all int64
		for _, r := range rows {
			if last = max(last, r.last); r.index == 0 {
				all = r.Rows
				continue
			}
			periods[r.index-1] = r.Period
			read += r.Rows
		}
		read = max(read, all)
		if s.most > 0 && read > s.most {
			done(nil, &TooManyRowsError{s.most, last})
			return
		}
		done(periods, nil)
	})
}
