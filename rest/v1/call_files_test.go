package v1_test

import (
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// inFiles is the demo network with the call data of Ethereum transactions and the init code of contracts in files. The
// files have hexadecimal text in two parts, and later other content.
var inFiles = &pgtest.Template{Name: "infiles", From: testenv.Filled, Prepare: testenv.Rows("", func(b *pgx.Batch) {
	b.Queue(`do $$ begin
create temp table input as select row_number() over () as n, row_number() over () + 9000000 as file, at, encode(data, 'hex') as text from (
  select consensus_timestamp as at, call_data as data from ethereum_transaction where length(call_data) > 0
  union all select e.created_timestamp, c.initcode from contract c join entity e using (id) join transaction t on t.consensus_timestamp = e.created_timestamp
  where t.type = 8 and length(c.initcode) > 0) source;
insert into file_data (entity_id, consensus_timestamp, transaction_type, file_data)
select file, n * 2, 17, convert_to('0x' || left(text, 5), 'UTF8') from input union all select file, n * 2 + 1, 16, convert_to(substr(text, 6), 'UTF8') from input
union all select file, 4000000000000000000 + n, 19, '00' from input;
update contract_result r set function_parameters = '' from ethereum_transaction e join input i on i.at = e.consensus_timestamp
where r.consensus_timestamp = i.at;
update ethereum_transaction set call_data = '', call_data_id = file from input where at = consensus_timestamp;
update contract c set initcode = null, file_id = file from input join entity e on e.created_timestamp = at where e.id = c.id;
end $$`)
}).Prepare}

// TestOpcodesOfFiles checks that a transaction whose input is in a file has the same trace as with the input in the
// transaction.
func TestOpcodesOfFiles(t *testing.T) {
	t.Parallel()
	g, moved := testenv.Shared(t), testenv.Over(t, inFiles.Shared(t))
	for name, paths := range map[string]string{
		"calls": `select 'results/0x' || encode(hash, 'hex') || '/opcodes' from ethereum_transaction e join contract_result r using (consensus_timestamp)
where r.transaction_result = 22 and length(e.call_data) > 0 and length(e.to_address) > 0 order by consensus_timestamp desc limit 3`,
		"creations": `select 'results/0x' || encode(h.hash, 'hex') || '/opcodes' from contract_transaction_hash h join contract_result r using (consensus_timestamp)
join transaction t using (consensus_timestamp) join entity e on e.created_timestamp = t.consensus_timestamp join contract c using (id)
where t.type = 8 and r.transaction_result = 22 and length(c.initcode) > 0 order by t.consensus_timestamp desc limit 3`,
	} {
		rows, err := g.DB.Pool().Query(t.Context(), paths)
		if err != nil {
			t.Fatal(err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(list) < 3 {
			t.Fatalf("%s: %v, %v", name, list, err)
		}
		for _, path := range list {
			path = "/api/v1/contracts/" + path
			want, body := trace(t, g, path, "Accept-Encoding: gzip")
			if got, _ := trace(t, moved, path, "Accept-Encoding: gzip"); want.Status != http.StatusOK ||
				got.Body != want.Body {
				t.Errorf("%s %s: status %d, %.300s\nwant status %d, %.300s", name, path, got.Status, got.Body,
					want.Status, want.Body)
			}
			if steps, _ := body["opcodes"].([]any); len(steps) == 0 || body["failed"] != false {
				t.Errorf("%s %s: %d steps, failed %v", name, path, len(steps), body["failed"])
			}
		}
	}
}
