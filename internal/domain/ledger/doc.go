// Package ledger holds the values and the rows of a public ledger: entity ids, consensus timestamps, keys and hashes with their text forms,
// and accounts, blocks, transactions, topics as the mirror database keeps them. Storage fills the rows and the graph serves them: there is
// no second model.
//
// A Parse function reads what the String method of a value that a ledger can have prints. Its errors quote the text and say what is wrong
// with it; they wrap [ErrSyntax] when the text has another form, and [ErrRange] when it has the form but no ledger can hold the value.
package ledger
