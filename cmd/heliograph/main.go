// Command heliograph is a GraphQL and REST gateway for Hedera/Hiero mirror node databases, with a
// Statuspage-compatible status page.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // status pages use time zones, and some systems have no time zone database

	"github.com/alecthomas/kong"

	"heliograph/app/gateway"
	"heliograph/rest"
	"heliograph/storage/embedded"
	"heliograph/storage/migrations"
)

// Build information, set by the linker.
var (
	version = "dev"
	commit  = "unknown"
	date    = "unknown"
)

// commands are the commands.
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

// withoutValue matches the parser's error of a flag that lacks its value.
var withoutValue = regexp.MustCompile(`: expected \w+ value but got .*`)

type exitError struct {
	code int
	err  error
}

// Error returns the message of the cause.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap returns the cause. The exit code is read from the exitError itself.
func (e *exitError) Unwrap() error { return e.err }

// main runs the command of the command line and exits with the code of [run]. The first interrupt or termination
// signal ends the context of the command, which then stops by itself; further signals have no effect. Before the
// command, main limits GOMAXPROCS to the number of processors.
func main() {
	// more threads than processors compete with each other: the collector alone would use them all
	if n := runtime.NumCPU(); runtime.GOMAXPROCS(0) > n {
		runtime.GOMAXPROCS(n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run parses a command line and the environment, executes the command and returns the exit code of the process. It
// prints errors to standard error. The code for an invalid command line or setting, and for an unknown variable with
// the prefix HELIOGRAPH_, is 2. Without arguments, and with help or --help, it prints the help and ends the process
// with code 0.
func run(ctx context.Context, args []string) int {
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("heliograph"),
		kong.Description(
			"GraphQL and REST gateway for Hedera/Hiero mirror node databases, "+
				"with a Statuspage-compatible status page."),
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
		fmt.Fprintf(os.Stderr, "heliograph: %s (try %s --help)\n",
			withoutValue.ReplaceAllString(err.Error(), " needs a value"), name)
		return 2
	}
	if group := call.Selected(); len(group.Children) > 0 {
		fmt.Fprintf(os.Stderr, "heliograph: %[1]s needs one of its commands (try %[1]s --help)\n", group.FullPath())
		return 2
	}
	if unknown := unknownVariables(parser.Model, os.Environ()); len(unknown) > 0 {
		fmt.Fprintf(os.Stderr,
			"heliograph: no setting has the environment variable %s: correct its name or remove it (try heliograph "+
				"serve --help)\n", unknown[0])
		return 2
	}
	err = checkRanges(call.Flags())
	switch {
	case err != nil:
	case call.Command() == "serve": // not by the parser, which would keep its model, a tenth of the memory in use
		err = cli.Serve.Run(ctx)
	default:
		err = call.Run()
	}
	if err != nil {
		return printError(err)
	}
	return 0
}

// printError prints an error to standard error and returns the exit code of the process: that of an exitError,
// otherwise 1.
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
	from     time.Time // when the progress of the task is first printed
	last     string
}

// newProgress returns the progress of a task that starts now. It is printed to standard error, and only after the
// delay, so that short tasks print nothing.
func newProgress(delay time.Duration) *progress {
	return &progress{out: os.Stderr, terminal: isTerminal(os.Stderr), from: time.Now().Add(delay)}
}

// isTerminal reports whether a file is a terminal and not a pipe or a regular file. Other character devices, such as
// /dev/null, count as terminals.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show prints the progress of a step: as a bar on a terminal, otherwise one line for each new step. Before the delay
// of [newProgress] has passed, it prints nothing. total is 0 if it is not known, and otherwise at least done. Calls
// must not be concurrent.
func (p *progress) show(step string, done, total int) {
	switch {
	case time.Now().Before(p.from):
		return
	case p.terminal && done+total == 0:
		fmt.Fprintf(p.out, "\r\033[K%s …", step)
	case p.terminal && total == 0:
		fmt.Fprintf(p.out, "\r\033[K%s %d", step, done)
	case p.terminal:
		full := barWidth * done / total
		fmt.Fprintf(p.out, "\r\033[K[%s%s] %d/%d %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full),
			done, total, step)
	case step != p.last:
		fmt.Fprintln(p.out, step)
	}
	p.last = step
}

// end removes the progress from a terminal. Elsewhere it does nothing.
func (p *progress) end() {
	if p.terminal && p.last != "" {
		fmt.Fprint(p.out, "\r\033[K")
	}
}

type migrateCmd struct {
	StatusOnly bool `help:"Create or update only the tables of the status pages."`
	Citus      bool `help:"Distribute the ledger tables of an empty database over the workers of its Citus cluster."`
	databaseSettings
	logSettings
}

// Run creates or updates the tables of the ledger and of the status pages, in the configured database or in the
// embedded one. With --status-only it leaves the ledger tables of an external database as they are. With --citus it
// distributes those of an external database. A URL of the status database alone is a usage error without --status-only
// or --data-dir, and so is --citus with --status-only or without an external database for the ledger.
func (c *migrateCmd) Run(ctx context.Context) (err error) {
	c.direct()
	log := c.logger()
	if c.Citus && (c.DatabaseURL == "" || c.StatusOnly) {
		return invalid("--citus needs --database-url, the coordinator of the cluster, and excludes --status-only")
	}
	if c.StatusOnly && (c.StatusURL != "" || c.DatabaseURL != "") {
		return c.migrateStatus(ctx, c.DatabaseURL, log)
	}
	if c.StatusOnly {
		err = c.hasDatabase()
		if err != nil {
			return err
		}
	} else if c.StatusURL != "" && c.DatabaseURL == "" && c.DataDir == "" {
		return invalid("--database-url is missing: set it, or --status-only for the tables of the status pages alone")
	}
	d, err := c.open(ctx, log) // migrates an embedded database
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if d.server == nil {
		create := migrations.Ledger
		if c.Citus {
			create = migrations.Distribute
		}
		err = create(ctx, d.url, log)
		if err != nil {
			return unreachable(d.url, err)
		}
	} else {
		dir, err := c.dataDir()
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, "no --database-url: using the embedded database in", dir)
	}
	fmt.Fprintf(os.Stdout, "the tables are up to date (schema version %d)\n", migrations.Version())
	return c.migrateStatus(ctx, d.url, log)
}

// migrateStatus creates or updates the tables of the status pages and prints their version. ledger is the URL of
// the ledger database, which has them by default.
func (c *migrateCmd) migrateStatus(ctx context.Context, ledger string, log *slog.Logger) error {
	url, err := c.statusURL(ledger)
	if err != nil {
		return err
	}
	err = migrations.Status(ctx, url, log)
	if err != nil {
		return unreachable(url, err)
	}
	fmt.Fprintf(os.Stdout, "the status tables are up to date (schema version %d)\n", migrations.StatusVersion())
	return nil
}

type demoCmd struct {
	databaseSettings
	ledgerSettings
	logSettings
}

// Run creates missing tables and writes the demo network with its status page, in place of an earlier one. It fails if
// the database contains other data. The ledger and the page are separate transactions: if the page fails, the new
// ledger stays.
func (c *demoCmd) Run(ctx context.Context) (err error) {
	c.direct()
	log := c.logger()
	now, err := parseClock(c.FixedTime)
	if err != nil {
		return err
	}
	d, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	status, err := c.statusURL(d.url)
	if err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	if d.server == nil { // open creates the tables of an embedded database
		err = migrations.Ledger(ctx, d.url, quiet)
		if err != nil {
			return unreachable(d.url, err)
		}
	}
	err = migrations.Status(ctx, status, quiet)
	if err != nil {
		return unreachable(status, err)
	}
	err = loadDemo(ctx, d.url, now(), true)
	if err != nil {
		return err
	}
	err = loadDemoStatus(ctx, status, now(), true)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "the demo network is loaded")
	return nil
}

type explainCmd struct {
	Path        string `arg:"" help:"REST path with its query string, such as '/api/v1/accounts?account.balance=gt:100&order=desc'; prefixed with 'POST ' for a request with a body. With --analyze also a file with a document, or with the JSON of a GraphQL request."`
	Body        string `type:"existingfile" help:"File with the request body of a POST (default: an example body)."`
	JSON        bool   `help:"Print the document, variables and operation name as JSON; with --analyze the plan."`
	Analyze     bool   `help:"Run the document on the gateway of this machine, and print its plan: statements over time, rows, round trips, and the indexes of the slowest statement."`
	AdminListen string `env:"HELIOGRAPH_ADMIN_LISTEN" default:"127.0.0.1:9464" help:"Listen address of the admin port of that gateway."`
	ledgerSettings
}

// Run prints the GraphQL document of a REST path, or with --json also its variables and operation name. That needs no
// database, and fails if the path is not that of an endpoint or has invalid parameters. With --analyze it sends the
// document to a running gateway, which executes it, and prints the plan. A path without "/api/v" is then a file with
// the request.
func (c *explainCmd) Run(ctx context.Context) error {
	if c.Analyze && !strings.Contains(c.Path, "/api/v") {
		text, err := os.ReadFile(c.Path)
		if err != nil {
			return fmt.Errorf("%w; --analyze needs such a file, or a path that begins with /api/v1/ or /api/v2/", err)
		}
		return c.analyze(ctx, requestOf(text))
	}
	cfg, err := c.rest()
	if err != nil {
		return err
	}
	g, err := gateway.New(gateway.Options{
		REST: cfg, Graph: gateway.DefaultGraph(),
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return fmt.Errorf("reading the documents: %w", err)
	}
	var body []byte
	if c.Body != "" {
		if body, err = os.ReadFile(c.Body); err != nil {
			return fmt.Errorf("reading the request body: %w", err)
		}
	}
	x, err := g.Explain(ctx, c.Path, body)
	var problem *rest.Problem
	switch {
	case errors.As(err, &problem) && problem.Status == http.StatusNotFound:
		return fmt.Errorf(
			"%w; paths begin with /api/v1/ or /api/v2/, and `heliograph serve` lists them at /api/v1/docs and "+
				"/api/v2/docs", problem)
	case errors.As(err, &problem):
		return fmt.Errorf("%s: %w; `heliograph serve` lists the parameters at /api/v1/docs", c.Path, problem)
	case err != nil:
		return err
	case c.Analyze:
		return c.analyze(ctx, x)
	case c.JSON:
		return printJSON(x)
	}
	_, err = os.Stdout.WriteString(x.Standalone)
	return err
}

// printJSON prints a value as indented JSON to standard output, without escaping HTML characters.
func printJSON(v any) error {
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v) //nolint:wrapcheck // writing to the terminal
}

// adminURL returns the base URL of the admin port for a listen address such as :8081, which stands for 127.0.0.1.
func adminURL(listen string) string {
	if strings.HasPrefix(listen, ":") {
		listen = "127.0.0.1" + listen
	}
	return "http://" + listen
}

type healthCmd struct {
	AdminListen string `env:"HELIOGRAPH_ADMIN_LISTEN" default:"127.0.0.1:9464" help:"Listen address of the admin port."`
	Part        string `enum:",ledger,status" default:"" help:"Part that must be ready: ledger or status (default: one of them)."`
}

// Run requests the readiness of a running gateway, or of one part of it, within 3 seconds, and fails if it is not
// ready. The health checks of containers use it: the image has no other program.
func (c *healthCmd) Run(ctx context.Context) error {
	target := strings.TrimSuffix(adminURL(c.AdminListen)+"/health/readiness/"+c.Part, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return fmt.Errorf("--admin-listen: %w", err)
	}
	resp, err := (&http.Client{Timeout: 3 * time.Second}).Do(req)
	if err != nil {
		return fmt.Errorf("the gateway does not respond; is it running with --admin-listen %s? %w", c.AdminListen, err)
	}
	defer func() { _ = resp.Body.Close() }() // it is not read to its end
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the gateway is not ready: %s returned %s", target, resp.Status)
	}
	return nil
}

type versionCmd struct{}

// Run prints the version of the program, and of what it was built with, to the standard output.
func (versionCmd) Run() error {
	_, err := fmt.Fprintf(os.Stdout,
		"heliograph %s (commit %s, %s)\n%s\nREST API %s\nschema %d, status schema %d\n"+
			"embedded PostgreSQL %d or newer\n",
		version, commit, date, runtime.Version(), rest.CompatibleVersion,
		migrations.Version(), migrations.StatusVersion(), embedded.MinMajor)
	return err //nolint:wrapcheck // as above
}
