package ledger

import (
	"fmt"
	"slices"
	"strings"
)

// FeeFiles describes which file has the price of gas at a time.
type FeeFiles struct {
	// Since is the consensus timestamp at which the nodes of the network began to charge by the simple fee schedule.
	Since Timestamp
	// Strict reports that only the file of the time is read. Otherwise the other one is used if the database has no
	// valid version of it.
	Strict bool
}

// The consensus timestamps at which the public networks began to charge by the simple fee schedule. Other networks
// always have.
const (
	mainnetSimpleFees Timestamp = 1779296400389248896
	testnetSimpleFees Timestamp = 1777482002529719510
)

// publicNetwork is a network with a name.
type publicNetwork struct {
	name    string
	chainID Quantity
	since   Timestamp
}

var publicNetworks = []publicNetwork{
	{"MAINNET", "0x127", mainnetSimpleFees},
	{"TESTNET", "0x128", testnetSimpleFees},
	{"PREVIEWNET", "0x129", 0},
	{"DEMO", "", 0},
	{"OTHER", "", 0},
}

// FeeFilesOf returns the fee files of a network by its configured name, in any letter case. Without a name, the chain
// ID selects the network, and the files are not strict. For other chain IDs the simple fee schedule applies at all
// times. For an unknown name, the error wraps [ErrSyntax].
func FeeFilesOf(name string, chainID Quantity) (FeeFiles, error) {
	i := slices.IndexFunc(publicNetworks, func(n publicNetwork) bool {
		return strings.EqualFold(n.name, name) || name == "" && n.chainID == chainID
	})
	switch {
	case i >= 0:
		return FeeFiles{publicNetworks[i].since, name != ""}, nil
	case name == "":
		return FeeFiles{}, nil
	default:
		return FeeFiles{}, fmt.Errorf("%w: %q is not MAINNET, TESTNET, PREVIEWNET, DEMO or OTHER", ErrSyntax, name)
	}
}

// At returns the number of the file with the price of gas at a time, and of the file that is used if it has no valid
// version, which is 0 if there is none.
func (f FeeFiles) At(at Timestamp) (file, other int64) {
	file, other = SimpleFeeFile, FeeScheduleFile
	if at < f.Since {
		file, other = other, file
	}
	if f.Strict {
		other = 0
	}
	return file, other
}
