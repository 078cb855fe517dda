package storage

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/internal/domain/ledger"
)

func testDB() *DB {
	return &DB{apart: &atomic.Bool{}, schema: &atomic.Pointer[schema]{}, servers: &servers{}}
}

// TestPastStatements checks the texts and arguments of statements at a past moment.
func TestPastStatements(t *testing.T) {
	t.Parallel()
	m := &ledger.Moment{At: 7}
	for name, c := range map[string]struct {
		read    Read
		args    []any
		lacking bool
		want    string // words of the text
		n       int    // of arguments
	}{
		"a table that is never changed": {
			Read{SQL: "select * from topic_message where topic_id = $1"},
			[]any{1},
			false,
			`with topic_message as not materialized (select * from topic_message where consensus_timestamp <= $2::bigint)
select * from topic_message where topic_id = $1`, 2,
		},
		"a table that depends on others": {
			Read{SQL: "select * from contract"},
			nil, false,
			"with contract as not materialized (select * from contract) select * from contract", 0,
		},
		"no table":         {Read{SQL: "select 1"}, nil, false, "select 1", 0},
		"a part of a word": {Read{SQL: "select topic_messages from x"}, nil, false, "select topic_messages from x", 0},
		"expressions of its own": {
			Read{SQL: "with page as (select * from prng) select * from page"},
			nil, false,
			`with prng as not materialized (select * from prng where consensus_timestamp <= $1::bigint)
select * from (with page as (select * from prng) select * from page) past`, 1,
		},
		"a table that lacks a column": {
			Read{SQL: "select memo from topic_message"},
			nil, true,
			`with topic_message as not materialized (with topic_message as not materialized (select *, null::text as memo from topic_message)
select * from topic_message where consensus_timestamp <= $1::bigint)
select memo from topic_message`, 1,
		},
		"a table that the database lacks": {
			Read{SQL: "select prng from topic_x"}, nil, true, "select prng from topic_x", 0,
		},
		"a history, and its table before it": {
			Read{SQL: "select from nft_history, nft"},
			nil, false, `with nft as not materialized (select * from ( select account_id,`,
			1,
		},
	} {
		db := testDB()
		if c.lacking {
			db.SetAbsent([]Absent{
				{Table: "topic_message", Column: "memo", Type: "text", Nullable: true},
				{Table: "prng"},
			})
		}
		got, args, err := c.read.at(db, m, c.args)
		words := func(sql string) string { return strings.Join(strings.Fields(sql), " ") }
		if err != nil || !strings.HasPrefix(words(got), words(c.want)) || len(args) != c.n {
			t.Errorf("%s: %v, %d arguments\n got %s\nwant %s", name, err, len(args), words(got), words(c.want))
		}
	}
	unknown := Read{SQL: "select * from contract_state"}
	if _, _, err := unknown.at(testDB(), m, nil); !errors.As(err, new(*UnknownPastError)) {
		t.Errorf("a table whose past is unknown: %v", err)
	}
	if _, _, err := (&Read{SQL: "select 1"}).at(testDB(), m, []any{pgx.NamedArgs{}}); err == nil {
		t.Error("named arguments are accepted")
	}
}
