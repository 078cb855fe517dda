// Package ledger has the values and rows of a public ledger: entity ids, consensus timestamps, keys and hashes with their text forms, and the accounts,
// blocks, transactions and topics in the mirror database. Storage fills the rows and the graph serves them. There is no second model: rows_gen.go has the rows,
// filters and enums, generated from the schema of the graph.
//
// Each Parse function accepts the text that the String method of a valid value returns. Its errors quote the text and describe the problem. They wrap
// [ErrSyntax] for malformed text, and [ErrRange] for a well-formed value that no ledger can have.
package ledger
