// Package contracts holds the contracts of the demo network: Solidity sources, and their ABIs and bytecode in
// compiled.json, which compile.js writes.
package contracts

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/accounts/abi"
)

//go:embed compiled.json
var compiled []byte

// Artifact is a compiled contract.
type Artifact struct {
	ABI      abi.ABI
	Bytecode []byte
}

// Read returns the compiled contracts by name.
func Read() (map[string]Artifact, error) {
	var file struct {
		Contracts map[string]struct {
			ABI      json.RawMessage `json:"abi"`
			Bytecode string          `json:"bytecode"`
		} `json:"contracts"`
	}
	if err := json.Unmarshal(compiled, &file); err != nil {
		return nil, fmt.Errorf("reading contracts/compiled.json: %w", err)
	}
	artifacts := map[string]Artifact{}
	for name, c := range file.Contracts {
		parsed, err := abi.JSON(bytes.NewReader(c.ABI))
		if err != nil {
			return nil, fmt.Errorf("reading the ABI of %s: %w", name, err)
		}
		code, err := hex.DecodeString(c.Bytecode)
		if err != nil {
			return nil, fmt.Errorf("reading the bytecode of %s: %w", name, err)
		}
		artifacts[name] = Artifact{parsed, code}
	}
	return artifacts, nil
}
