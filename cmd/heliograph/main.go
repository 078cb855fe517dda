// Command heliograph serves a ledger's mirror database as one GraphQL graph, and the REST APIs that older clients speak.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // status pages have time zones, and systems without a database of them are common

	"github.com/alecthomas/kong"
)

// What the build says of itself.
var (
	version = "dev"
	commit  = "unknown"
	date    = "unknown"
)

// commands is the command line.
type commands struct {
	Serve   serveCmd   `cmd:"" help:"Serve everything. Without a database URL, start and own an embedded PostgreSQL and load the demo network into it when it is empty."`
	Migrate migrateCmd `cmd:"" help:"Create or update our tables in a database."`
	Demo    demoCmd    `cmd:"" help:"Load the demo network into an empty database, or load it again into one that holds it. Any other database is refused."`
	Explain explainCmd `cmd:"" help:"Print the GraphQL document that a REST path runs, ready for GraphiQL."`
	Status  statusCmd  `cmd:"" help:"Write to status pages: components, incidents, maintenances, tokens."`
	Version versionCmd `cmd:"" help:"Print versions."`
}

// exitError ends the process with a code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string) int {
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("heliograph"),
		kong.Description("One GraphQL graph over a ledger's mirror database, with the REST APIs that older clients speak."),
		kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		return complain(err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	call, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "heliograph: %v (try heliograph --help)\n", err)
		return 2
	}
	if err := call.Run(); err != nil {
		return complain(err)
	}
	return 0
}

// complain prints an error and returns the exit code for it.
func complain(err error) int {
	fmt.Fprintf(os.Stderr, "heliograph: %v\n", err)
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return 1
}
