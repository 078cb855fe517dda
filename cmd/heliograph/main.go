// Command heliograph is a GraphQL and REST gateway for Hedera/Hiero mirror node databases, with a Statuspage-compatible status page.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	_ "time/tzdata" // status pages use time zones, and some systems have no time zone database

	"github.com/alecthomas/kong"

	"heliograph/internal/base/must"
)

// Build information, set by the linker.
var (
	version = "dev"
	commit  = "unknown"
	date    = "unknown"
)

// commands are the commands, whose methods Run may use package must.
type commands struct {
	Serve   serveCmd   `cmd:"" help:"Serve the GraphQL API, the REST APIs and the status pages. Without a database URL, start an embedded PostgreSQL and load the demo network into it if it is empty."`
	Migrate migrateCmd `cmd:"" help:"Create or update the tables of a database."`
	Check   checkCmd   `cmd:"" help:"Check an external database: compare its tables with those that the gateway reads, and print what to do."`
	Demo    demoCmd    `cmd:"" help:"Load the demo network into a database that is empty or contains the demo network. Fails for any other database."`
	Explain explainCmd `cmd:"" help:"Print the GraphQL document of a REST path, ready for GraphiQL."`
	Status  statusCmd  `cmd:"" help:"Edit status pages: components, incidents, maintenances and tokens."`
	Compare compareCmd `cmd:"" help:"Compare the REST API of a gateway with another mirror REST service, and group the differences by cause."`
	Health  healthCmd  `cmd:"" help:"Check whether the gateway on this machine is ready. Exits with 1 if it is not."`
	Version versionCmd `cmd:"" help:"Print version information."`
}

type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

func main() {
	if n := runtime.NumCPU(); runtime.GOMAXPROCS(0) > n { // more threads than processors compete with each other: the collector alone would use them all
		runtime.GOMAXPROCS(n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string) int {
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("heliograph"),
		kong.Description("GraphQL and REST gateway for Hedera/Hiero mirror node databases, with a Statuspage-compatible status page."),
		kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Help(func(o kong.HelpOptions, c *kong.Context) error {
			o.Compact, o.NoExpandSubcommands = true, c.Selected() == nil
			return kong.DefaultHelpPrinter(o, c)
		}),
	)
	if err != nil {
		return printError(err)
	}
	if len(args) == 0 || args[0] == "help" {
		args = append(args[min(1, len(args)):], "--help")
	}
	call, err := parser.Parse(args)
	if err != nil {
		name := "heliograph"
		var wrong *kong.ParseError
		if errors.As(err, &wrong) && wrong.Context.Selected() != nil {
			name = wrong.Context.Selected().FullPath()
		}
		fmt.Fprintf(os.Stderr, "heliograph: %v (try %s --help)\n", err, name)
		return 2
	}
	if group := call.Selected(); len(group.Children) > 0 {
		fmt.Fprintf(os.Stderr, "heliograph: %[1]s needs one of its commands (try %[1]s --help)\n", group.FullPath())
		return 2
	}
	if err := must.Run(func() error { must.Do(checkRanges(call.Flags())); return call.Run() }); err != nil {
		return printError(err)
	}
	return 0
}

func printError(err error) int {
	fmt.Fprintf(os.Stderr, "heliograph: %v\n", err)
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.code
	}
	return 1
}

// barWidth is the width of the bar in characters.
const barWidth = 30

// progress prints the progress of a task: a bar on a terminal, and one line per step elsewhere.
type progress struct {
	out      *os.File
	terminal bool
	last     string
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// show prints the progress of a step. total is 0 if it is not known.
func (p *progress) show(step string, done, total int) {
	switch {
	case p.terminal && done+total == 0:
		fmt.Fprintf(p.out, "\r\033[K%s …", step)
	case p.terminal && total == 0:
		fmt.Fprintf(p.out, "\r\033[K%s %d", step, done)
	case p.terminal:
		full := barWidth * done / total
		fmt.Fprintf(p.out, "\r\033[K[%s%s] %d/%d %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done, total, step)
	case step != p.last:
		fmt.Fprintln(p.out, step)
	}
	p.last = step
}

// end clears the line on a terminal.
func (p *progress) end() {
	if p.terminal && p.last != "" {
		fmt.Fprint(p.out, "\r\033[K")
	}
}
