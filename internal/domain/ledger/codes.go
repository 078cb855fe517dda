package ledger

import (
	_ "embed" // the tables of names
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// Unknown is the name of a transaction type or response code that is not in the tables. It is also the name of response code 21.
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
	responseCodes    = readNames[ResponseCode](transactionResultsCSV)
	functions        = readFunctions()
)

// names maps numbers to names and back. It is read-only.
type names[T ~int16] struct {
	byCode map[T]string
	byName map[string]T
}

// readTable returns the rows of an embedded table without the heading. It panics if the table is invalid.
func readTable(table string) [][]string {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("embedded table of names: %v", err))
	}
	return rows[1:]
}

// readFunctions reads the columns body_field and hedera_functionality of the transaction types whose fee can be estimated.
func readFunctions() map[string]string {
	f := map[string]string{}
	for _, row := range readTable(transactionTypesCSV) {
		if row[7] != "unsupported" {
			f[row[2]] = row[4]
		}
	}
	return f
}

// FunctionOf returns the network's name of the transaction type whose data is in a field of the transaction body, such as CryptoTransfer. It is empty if the
// fee of the type cannot be estimated.
func FunctionOf(bodyField string) string { return functions[bodyField] }

// readNames reads number and name from the first two columns of an embedded table. It panics if the table is invalid.
func readNames[T ~int16](table string) names[T] {
	rows := readTable(table)
	n := names[T]{make(map[T]string, len(rows)), make(map[string]T, len(rows))}
	for _, row := range rows {
		code, err := strconv.ParseInt(row[0], 10, 16)
		if err != nil {
			panic(fmt.Sprintf("embedded table of names: %v", err))
		}
		n.byCode[T(code)], n.byName[row[1]] = row[1], T(code)
	}
	return n
}

// find returns the code of a name in any case of its ASCII letters. Other letters with an ASCII upper case, such as the long s, take more
// bytes than it does.
func (n names[T]) find(name string) (T, bool) {
	upper := strings.ToUpper(name)
	code, ok := n.byName[upper]
	return code, ok && len(upper) == len(name)
}

// String returns the name of the type, such as CRYPTOTRANSFER, or [Unknown].
func (t TransactionType) String() string {
	if name, ok := transactionTypes.byCode[t]; ok {
		return name
	}
	return Unknown
}

// ParseTransactionType parses the name of a transaction type, ignoring case. Errors wrap [ErrSyntax].
func ParseTransactionType(s string) (TransactionType, error) {
	if t, ok := transactionTypes.find(s); ok {
		return t, nil
	}
	return 0, fmt.Errorf("%q is the name of no transaction type: %w", s, ErrSyntax)
}

// String returns the name of the code, such as SUCCESS, or [Unknown].
func (c ResponseCode) String() string {
	if name, ok := responseCodes.byCode[c]; ok {
		return name
	}
	return Unknown
}
