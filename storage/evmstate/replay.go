package evmstate

import (
	"bytes"
	"encoding/hex"
	"strings"

	"heliograph/internal/domain/ledger"
	"heliograph/storage"
	"heliograph/storage/entities"
)

// typeContractCreate is the type of transactions that create a contract.
const typeContractCreate = 8

// input contains whether a transaction created a contract, its init code and its call data. What does not fit into a transaction is in a file.
type input struct {
	created                ledger.Null[bool]
	initcode, callData     []byte
	initcodeFile, dataFile []byte
}

var inputRows = storage.MapperOf(func(i *input, into []any) []any {
	return append(into, &i.created, &i.initcode, &i.initcodeFile, &i.callData, &i.dataFile)
}, func(i *input) error {
	if len(i.initcode) == 0 {
		i.initcode = fromHex(i.initcodeFile)
	}
	if len(i.callData) == 0 {
		i.callData = fromHex(i.dataFile)
	}
	return nil
})

// fileContent is a subquery of the content that the file $file had at the time $1.
const fileContent = `(select string_agg(d.file_data, '' order by d.consensus_timestamp) from file_data d
  where d.entity_id = $file and d.consensus_timestamp <= $1 and d.consensus_timestamp >= (
    select max(consensus_timestamp) from file_data where entity_id = $file and consensus_timestamp <= $1 and ` + entities.StartsVersion + `))`

// QueueInput queues a query for the input of a transaction. done receives whether the transaction created the contract, the init code contained in the
// transaction or its file, and the call data of an Ethereum transaction or its file.
func QueueInput(b *storage.Batch, at ledger.Timestamp, contract ledger.EntityID, done func(created bool, initcode, callData []byte)) {
	inputRows.Queue(b, `select (select type = $3 from transaction where consensus_timestamp = $1 limit 1),
  coalesce((select failed_initcode from contract_result where consensus_timestamp = $1 and contract_id = $2 limit 1), c.initcode),
  `+strings.ReplaceAll(fileContent, "$file", "c.file_id")+`, e.call_data, `+strings.ReplaceAll(fileContent, "$file", "e.call_data_id")+`
from (select) one left join contract c on c.id = $2 left join ethereum_transaction e on e.consensus_timestamp = $1 limit 1`,
		[]any{int64(at), int64(contract), typeContractCreate}, func(rows []*input) { done(rows[0].created.V, rows[0].initcode, rows[0].callData) })
}

// fromHex decodes the hexadecimal text of a file. Other content is returned unchanged.
func fromHex(text []byte) []byte {
	digits := bytes.TrimPrefix(bytes.TrimSpace(text), []byte("0x"))
	out := make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(out, digits); err != nil {
		return text
	}
	return out
}
