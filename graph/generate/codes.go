package main

import (
	"bytes"
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
	results, err := readTable("internal/domain/ledger/data/transaction_results.csv")
	if err != nil {
		return nil, err
	}
	types, err := readTable("internal/domain/ledger/data/transaction_types.csv")
	if err != nil {
		return nil, err
	}
	return render("codes", "codes", map[string]any{"Results": results, "Types": types})
}

// readTable returns the rows of a CSV file without the header.
func readTable(path string) ([][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a table: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return rows[1:], nil
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
