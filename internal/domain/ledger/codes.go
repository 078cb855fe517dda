package ledger

import (
	"cmp"
	_ "embed" // the tables of names
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Unknown is the name of a transaction type or response code that is not in the tables. It is also the name of
// response code 21.
const Unknown = "UNKNOWN"

// TransactionType is the type of a transaction: the number of the field that holds its body.
type TransactionType int16

// ResponseCode is the result of a transaction.
type ResponseCode int16

//go:embed data/transaction_types.csv
var transactionTypesCSV string

//go:embed data/transaction_results.csv
var transactionResultsCSV string

var (
	transactionTypes = readNames[TransactionType](transactionTypesCSV)
	typesByName      = invert(transactionTypes)
	responseCodes    = readNames[ResponseCode](transactionResultsCSV)
	functions        = readFunctions()
	uncovered        = readUncovered()
)

// readTable returns the rows of an embedded CSV table without the heading, when the program starts. It panics if the
// table is empty, or not CSV with the same number of columns in all rows.
func readTable(table string) [][]string {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("embedded table of names: %v", err))
	}
	return rows[1:]
}

// invert returns a new map from the names to the numbers. The names are distinct.
func invert[T ~int16](names map[T]string) map[string]T {
	numbers := make(map[string]T, len(names))
	for number, name := range names {
		numbers[name] = number
	}
	return numbers
}

// readUncovered returns the effects of transaction types that past states do not cover, for
// [TransactionType.Uncovered]. They are in the last column of the embedded table of the types, separated by spaces.
// It panics if the table is not CSV with all columns; it does not check the names of effects.
func readUncovered() map[TransactionType][]UncoveredEffect {
	all := map[TransactionType][]UncoveredEffect{}
	for _, row := range readTable(transactionTypesCSV) {
		for name := range strings.FieldsSeq(row[8]) {
			all[typesByName[row[1]]] = append(all[typesByName[row[1]]], UncoveredEffect(name))
		}
	}
	return all
}

// Uncovered returns the effects that a transaction of the type can have on the state without a row that links them to
// it, or nil. The list is shared; callers must not change it.
func (t TransactionType) Uncovered() []UncoveredEffect { return slices.Clip(uncovered[t]) }

// readFunctions returns the network's names of the transaction types whose fee can be estimated, by the body field,
// for [FunctionOf]. They are in the embedded table of the types. It panics if the table is not CSV with all columns.
func readFunctions() map[string]string {
	f := map[string]string{}
	for _, row := range readTable(transactionTypesCSV) {
		if row[7] != "unsupported" {
			f[row[2]] = row[4]
		}
	}
	return f
}

// FunctionOf returns the network's name of the transaction type whose data is in a field of the transaction body, such
// as CryptoTransfer. It is empty if the fee of the type cannot be estimated.
func FunctionOf(bodyField string) string { return functions[bodyField] }

// readNames reads number and name from the first two columns of an embedded table. It panics if the table is not CSV
// with both columns, or a number does not fit into 16 bits.
func readNames[T ~int16](table string) map[T]string {
	names := map[T]string{}
	for _, row := range readTable(table) {
		code, err := strconv.ParseInt(row[0], 10, 16)
		if err != nil {
			panic(fmt.Sprintf("embedded table of names: %v", err))
		}
		names[T(code)] = row[1]
	}
	return names
}

// String returns the name of the type, such as CRYPTOTRANSFER, or [Unknown].
func (t TransactionType) String() string { return cmp.Or(transactionTypes[t], Unknown) }

// String returns the name of the code, such as SUCCESS, or [Unknown].
func (c ResponseCode) String() string { return cmp.Or(responseCodes[c], Unknown) }

// ParseTransactionType parses the name of a transaction type, such as CRYPTOTRANSFER, ignoring case. Errors wrap
// [ErrSyntax].
func ParseTransactionType(s string) (TransactionType, error) {
	upper := strings.ToUpper(s)
	// other letters with an ASCII upper case, such as the long s, take more bytes than it does
	if t, ok := typesByName[upper]; ok && len(upper) == len(s) {
		return t, nil
	}
	return 0, fmt.Errorf("%q is the name of no transaction type: %w", s, ErrSyntax)
}
