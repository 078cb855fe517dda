package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"strings"
)

// codesFile is the file that [codes] writes.
const codesFile = "internal/domain/ledger/codes/codes_gen.go"

// initialisms are words in the names of response codes that are not written as usual.
var initialisms = map[string]string{"ID": "ID", "NFT": "NFT", "NFTS": "NFTs", "KYC": "KYC", "EVM": "EVM", "OK": "OK"}

// codes returns a package with a constant for each response code and each transaction type of the network.
func codes() ([]byte, error) {
	var b strings.Builder
	for _, table := range []struct {
		name     string
		constant func(row []string) string
	}{
		{"results", func(row []string) string { return constantName(row[1]) + " ledger.ResponseCode = " + row[0] }},
		{"types", func(row []string) string { return "Type" + row[4] + " ledger.TransactionType = " + row[0] }},
	} {
		text, err := os.ReadFile("internal/domain/ledger/data/transaction_" + table.name + ".csv")
		if err != nil {
			return nil, fmt.Errorf("reading codes: %w", err)
		}
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		if err != nil {
			return nil, fmt.Errorf("reading codes: %w", err)
		}
		b.WriteString("// The transaction " + table.name + " of the network.\nconst (\n")
		for _, row := range rows[1:] {
			b.WriteString(table.constant(row) + "\n")
		}
		b.WriteString(")\n\n")
	}
	return file("codes", b.String()), nil
}

// constantName returns the Go name of a response code.
func constantName(code string) string {
	words := strings.Split(code, "_")
	for i, word := range words {
		if words[i] = initialisms[word]; words[i] == "" {
			words[i] = word[:1] + strings.ToLower(word[1:])
		}
	}
	return strings.Join(words, "")
}
