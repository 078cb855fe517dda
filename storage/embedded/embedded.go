// Package embedded runs a PostgreSQL server of the gateway's own, for the case that no database URL is configured.
//
// The server's programs are those installed on the machine (see [Options.BinDir] for the order in which they are
// looked for); nothing is downloaded. The server is a child process that listens on a Unix socket in a private folder
// and on no TCP port. It is stopped with the gateway, even when the gateway is killed, and whatever an earlier gateway
// left behind is cleaned up at the next start. The data are never deleted.
//
// Layout of a data folder:
//
//	postgres.log      what the server prints, whatever its version
//	pg15.lock         locked by the one gateway that owns pg15
//	pg15/data         the cluster of PostgreSQL 15
//	pg15/s            the socket
package embedded

import (
	"errors"
	"log/slog"
)

// Name is the name of the superuser and of the database that [Start] creates.
const Name = "heliograph"

// MinMajor is the oldest major version of PostgreSQL that is used.
const MinMajor = 14

// Errors to test for with [errors.Is]; what [Start] returns says in addition where and how.
var (
	// ErrNoServer says that no usable PostgreSQL is installed.
	ErrNoServer = errors.New("no usable PostgreSQL server found")
	// ErrInUse says that another gateway owns the data folder.
	ErrInUse = errors.New("data folder is in use by another gateway")
	// ErrOtherVersion says that the data folder was made by a major version of PostgreSQL that is not at hand.
	ErrOtherVersion = errors.New("data folder was made by another major version of PostgreSQL")
)

// extensions are those that the schema needs. They are part of PostgreSQL, but some systems package them apart.
func extensions() []string { return []string{"btree_gist", "pg_trgm"} }

// Options say where the server lives and how it runs. The zero value asks for a persistent server in the default
// folder.
type Options struct {
	// DataDir is the folder of the data, made when missing; empty means [DefaultDataDir]. Ignored when Ephemeral.
	DataDir string

	// BinDir is the value of HELIOGRAPH_PG_BINDIR: the folder that holds postgres and initdb. When set, only that one
	// is used, and it is an error if it is unusable. When empty, programs of the major version that made the data are
	// taken from, in this order: PATH, pg_config, the usual folders of the system, and heliograph/postgresql/*/bin below
	// the user's cache folder. Without data, the newest major version wins.
	BinDir string

	// Ephemeral asks for a server in a temporary folder which [Server.Stop] removes, and which is faster because it
	// need not survive a crash of the machine.
	Ephemeral bool

	// Settings are further settings of the server, by name, which win over those of this package.
	Settings map[string]string

	// Logger gets a few lines about what happens; nil discards them.
	Logger *slog.Logger

	// folders replaces every place but BinDir where programs are looked for, in tests.
	folders []string
	// noDeathSignal leaves the server running when the gateway is killed, as on systems without a parent-death signal.
	noDeathSignal bool
}
