// Package embedded runs a PostgreSQL server as a child process, for use if no database URL is configured.
//
// It uses the PostgreSQL programs installed on the machine and downloads nothing. [Options.BinDir] describes where it searches for them. The server listens
// on a Unix socket in a private folder and on no TCP port. It is stopped with the gateway, even if the gateway is killed. The next start cleans up after an
// earlier gateway. The data is never deleted.
//
// Layout of a data folder:
//
//	postgres.log      output of the server, for all versions
//	pg15.lock         locked by the gateway that owns pg15
//	pg15/data         the cluster of PostgreSQL 15
//	pg15/s            the socket
package embedded

import (
	"errors"
	"log/slog"
)

// Name is the name of the superuser and of the database that [Start] creates.
const Name = "heliograph"

// MinMajor is the oldest supported major version of PostgreSQL.
const MinMajor = 14

// Errors to test for with [errors.Is]. The errors that [Start] returns add the details.
var (
	// ErrNoServer means that no usable PostgreSQL is installed.
	ErrNoServer = errors.New("no usable PostgreSQL server found")
	// ErrInUse means that another gateway uses the data folder.
	ErrInUse = errors.New("data folder is in use by another gateway")
	// ErrOtherVersion means that the data folder was created by a major version of PostgreSQL that was not found.
	ErrOtherVersion = errors.New("data folder was made by another major version of PostgreSQL")
)

// extensions returns the extensions that the schema needs. They are part of PostgreSQL, but some systems package them separately.
func extensions() []string { return []string{"btree_gist", "pg_trgm"} }

// Options configure the server. The zero value means a persistent server in the default folder.
type Options struct {
	// DataDir is the data folder. It is created if missing. The default is [DefaultDataDir]. Ignored if Ephemeral is set.
	DataDir string

	// BinDir is the folder that contains postgres and initdb (HELIOGRAPH_PG_BINDIR). If set, no other folder is searched, and it is an error if its programs
	// are unusable. If empty, programs of the data's major version are searched in this order: PATH, pg_config, the usual folders of the system, and
	// heliograph/postgresql/*/bin in the user's cache folder. Without data, the newest major version is used.
	BinDir string

	// Ephemeral selects a server in a temporary folder that [Server.Stop] removes. It is faster because its data need not survive a crash of the machine.
	Ephemeral bool

	// Settings are further server settings by name. They override those of this package.
	Settings map[string]string

	// Logger is optional. Nil discards the log.
	Logger *slog.Logger

	// folders replaces all searched folders except BinDir, for tests.
	folders []string
	// noDeathSignal keeps the server running if the gateway is killed, as on systems without a parent-death signal.
	noDeathSignal bool
}
