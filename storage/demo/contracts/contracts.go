// Package contracts holds the contracts of the demo network: Solidity sources, and their ABIs and bytecode in
// compiled.json, which compile.js writes.
package contracts

import (
	_ "embed"
	"encoding/json"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"heliograph/internal/base/wrap"
)

//go:embed compiled.json
var compiled []byte

// Artifact is a compiled contract.
type Artifact struct {
	ABI      abi.ABI
	Bytecode string // in hexadecimal
}

// Read returns the compiled contracts by name, from the embedded file compiled.json. It fails only if that file is
// invalid.
func Read() (map[string]Artifact, error) {
	var file struct{ Contracts map[string]Artifact }
	err := json.Unmarshal(compiled, &file)
	return file.Contracts, wrap.Error(err, "reading contracts/compiled.json")
}
