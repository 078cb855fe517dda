package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"

	"heliograph/app/gateway"
	mediafiles "heliograph/app/media"
	"heliograph/app/tracing"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/contractcalls"
	"heliograph/resolvers/media"
	"heliograph/rest"
	"heliograph/storage"
	"heliograph/storage/embedded"
)

// toggle is a boolean setting: on/off, true/false, 1/0 or yes/no.
type toggle struct{ on bool }

// UnmarshalText sets the switch from on, true, 1 or yes, or off, false, 0 or no. An empty text is off. It ignores
// case and fails for other texts.
func (t *toggle) UnmarshalText(text []byte) error {
	switch strings.ToLower(string(text)) {
	case "on", "true", "1", "yes":
		t.on = true
	case "off", "false", "0", "no", "":
		t.on = false
	default:
		return fmt.Errorf("%q is not on or off", text)
	}
	return nil
}

// optionalToggle is a toggle whose default depends on something else.
type optionalToggle struct{ ledger.Null[bool] }

// UnmarshalText sets a switch that has a third state: an empty text is null, other texts are those of toggle. If it
// fails, o stays as it was.
func (o *optionalToggle) UnmarshalText(text []byte) error {
	var t toggle
	if err := t.UnmarshalText(text); err != nil {
		return err
	}
	o.Null = ledger.Null[bool]{V: t.on, Valid: len(text) > 0}
	return nil
}

// demoMode is a toggle that can also be live.
type demoMode struct {
	toggle
	live bool
}

// UnmarshalText sets the mode of --demo from live, in any letter case, which is also on, or from a text of toggle. It
// fails for other texts.
func (m *demoMode) UnmarshalText(text []byte) error {
	if m.live = strings.EqualFold(string(text), "live"); m.live {
		m.on = true
		return nil
	}
	if m.toggle.UnmarshalText(text) != nil {
		return fmt.Errorf("%q is not on, off or live", text)
	}
	return nil
}

// invalid returns the error of an invalid setting, which has the exit code of an invalid command line.
func invalid(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// checkRanges returns a usage error if a setting is less than its tag min or more than its tag max. Settings without a
// default may be missing. A flag with such a tag must have an environment variable, which the error names; otherwise
// checkRanges panics instead of the error.
func checkRanges(flags []*kong.Flag) error {
	for _, f := range flags {
		if least := f.Tag.Get("min"); least != "" && compareWith(f.Target, least) < 0 &&
			(f.HasDefault || !f.Target.IsZero()) {
			return invalid("--%s (%s) must be %s or more, not %v", f.Name, f.Tag.Envs[0], least, f.Target)
		}
		if most := f.Tag.Get("max"); most != "" && compareWith(f.Target, most) > 0 {
			return invalid("--%s (%s) must be %s at most, not %v", f.Name, f.Tag.Envs[0], most, f.Target)
		}
	}
	return nil
}

// foreign are variables with our prefix that Kubernetes sets for a service named heliograph, or that tests and
// examples use.
var foreign = regexp.MustCompile(`^HELIOGRAPH_(.*SERVICE_HOST|.*PORT(_.*)?|.*TEST_.*|URL|ROOT|SCHEMA)$`)

// unknownVariables returns the names of variables in environ that start with HELIOGRAPH_ but that no flag uses.
// Their names may be misspelled. Names that match foreign are skipped.
func unknownVariables(app *kong.Application, environ []string) (unknown []string) {
	known := map[string]bool{}
	_ = kong.Visit(app, func(n kong.Visitable, next kong.Next) error { // returns no error
		if f, ok := n.(*kong.Flag); ok {
			for _, name := range f.Tag.Envs {
				known[name] = true
			}
		}
		return next(nil)
	})
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "HELIOGRAPH_") && !known[name] && !foreign.MatchString(name) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// compareWith compares a number or duration with a bound in text form, and returns -1, 0 or 1. The bound must be
// valid.
func compareWith(v reflect.Value, bound string) int {
	if d, ok := v.Interface().(time.Duration); ok {
		limit, _ := time.ParseDuration(bound) // bounds are constants
		return cmp.Compare(d, limit)
	}
	value, _ := strconv.ParseFloat(fmt.Sprint(v), 64) // it is a number
	limit, _ := strconv.ParseFloat(bound, 64)
	return cmp.Compare(value, limit)
}

type databaseSettings struct {
	DatabaseURL string `env:"HELIOGRAPH_DATABASE_URL" help:"URL or keyword string of the PostgreSQL database with the mirror tables (default: start an embedded server). Several hosts are a primary and its standbys."`
	StatusURL   string `name:"status-database-url" env:"HELIOGRAPH_STATUS_DATABASE_URL" help:"URL or keyword string of the PostgreSQL database with the status tables (default: the ledger database)."`
	Pooler      string `name:"database-pooler" enum:"auto,off,transaction,prepared" env:"HELIOGRAPH_DATABASE_POOLER" default:"auto" help:"Connection pooler in front of the databases: auto (detect it), off, transaction (without prepared statements) or prepared (with them, such as PgBouncer 1.21 and newer with max_prepared_statements)."`
	DirectURL   string `name:"direct-database-url" env:"HELIOGRAPH_DIRECT_DATABASE_URL" help:"URL of the database with the status tables without the pooler, for LISTEN, migrate and demo (default: the URL of that database; behind a pooler, poll every second instead of LISTEN)."`
	DataDir     string `env:"HELIOGRAPH_DATA_DIR" help:"Data folder of the embedded PostgreSQL (default: in the user's data folder)."`
	PGBindir    string `name:"pg-bindir" env:"HELIOGRAPH_PG_BINDIR" help:"Folder with the PostgreSQL programs for the embedded server (default: search the usual folders)."`
}

// pool returns the options of a pool of connections to the database at url, with the statement timeout and the
// maximum number of connections. If no URL is configured, url is that of the embedded server, which has no pooler. It
// connects to nothing.
func (s *databaseSettings) pool(url string, timeout time.Duration, connections int32) storage.PoolOptions {
	pooler := storage.Pooler(s.Pooler)
	if s.DatabaseURL == "" && s.StatusURL == "" {
		pooler = storage.PoolerNone // the embedded server
	}
	return storage.PoolOptions{
		URL: url, Pooler: pooler, DirectURL: s.DirectURL, StatementTimeout: timeout, ConnectTimeout: connectTimeout,
		MaxConnections: connections,
	}
}

// direct changes the settings of commands that need sessions of their own: it replaces the URL that leads to the
// status tables by the direct one, if that is set.
func (s *databaseSettings) direct() {
	if s.DirectURL != "" && s.StatusURL != "" {
		s.StatusURL = s.DirectURL
	} else if s.DirectURL != "" {
		s.DatabaseURL = s.DirectURL
	}
}

// statusURL returns the URL of the database with the status tables, by default that of the ledger database. It
// fails with a usage error, without the password, if the URL is invalid.
func (s *databaseSettings) statusURL(ledger string) (string, error) {
	if s.StatusURL == "" {
		return ledger, nil
	}
	if _, err := pgx.ParseConfig(s.StatusURL); err != nil {
		// The error of the driver can contain the password.
		return "", invalid("--status-database-url (HELIOGRAPH_STATUS_DATABASE_URL) %s", noURL)
	}
	return s.StatusURL, nil
}

// hasDatabase returns an error if the default embedded database does not exist. With --data-dir it does not look.
// Commands for an existing database call it if no URL is set, because open would create one.
func (s *databaseSettings) hasDatabase() error {
	dir, err := s.dataDir()
	if _, missing := os.Stat(dir); err == nil && errors.Is(missing, fs.ErrNotExist) && s.DataDir == "" {
		return fmt.Errorf("set --status-database-url, or --data-dir for an embedded database: there is none in %s",
			dir)
	}
	return err
}

// dataDir returns the data folder of the embedded server: the setting, or the default of the user. It does not
// create it.
func (s *databaseSettings) dataDir() (string, error) {
	if s.DataDir != "" {
		return s.DataDir, nil
	}
	dir, err := embedded.DefaultDataDir()
	if err != nil {
		return "", fmt.Errorf("set --database-url, or --data-dir for an embedded database, which has %w", err)
	}
	return dir, nil
}

// ledgerSettings describe the ledger and configure the REST API.
type ledgerSettings struct {
	Shard           int64  `env:"HELIOGRAPH_SHARD" default:"0" help:"Shard of the ledger."`
	Realm           int64  `env:"HELIOGRAPH_REALM" default:"0" help:"Realm of the ledger."`
	ChainID         string `env:"HELIOGRAPH_CHAIN_ID" default:"0x128" help:"EVM chain id of the network: a decimal or 0x-prefixed hexadecimal number."`
	Network         string `env:"HELIOGRAPH_NETWORK" help:"Network whose gas prices are served: MAINNET, TESTNET, PREVIEWNET, DEMO or OTHER, which decides from when they are in file 0.0.113, and before in 0.0.111 (default: that of the chain id; the other file is then used if the database lacks one)."`
	SimpleFeesSince int64  `name:"simple-fees-since" env:"HELIOGRAPH_SIMPLE_FEES_SINCE" min:"-1" default:"-1" help:"Consensus timestamp in nanoseconds from which the gas prices are in file 0.0.113, for private networks; -1 for that of the network."`
	FixedTime       string `env:"HELIOGRAPH_FIXED_TIME" help:"Fixed current time (RFC 3339), for tests and demos (default: the system clock)."`

	rest.Config

	DelegationAddress    toggle `env:"HELIOGRAPH_DELEGATION_ADDRESS" default:"off" help:"Include delegation_address in accounts."`
	BindTimestampRange   toggle `env:"HELIOGRAPH_BIND_TIMESTAMP_RANGE" default:"off" help:"Limit the length of timestamp ranges of transactions that have no lower or upper bound."`
	MaxTransactionsRange int64  `name:"max-transactions-timestamp-range-ns" env:"HELIOGRAPH_MAX_TRANSACTIONS_TIMESTAMP_RANGE_NS" min:"1" default:"5184000000000000" help:"Length to which such ranges are limited, in nanoseconds."`
	MaxFileAttempts      int    `env:"HELIOGRAPH_MAX_FILE_ATTEMPTS" min:"1" default:"12" help:"Maximum number of versions of a system file to try, starting with the newest, until one can be decoded."`
	SyntheticResults     toggle `name:"synthetic-contract-results" env:"HELIOGRAPH_SYNTHETIC_CONTRACT_RESULTS" default:"on" help:"Show token transfers outside the EVM as contract results."`
	TopicMessageLookup   toggle `env:"HELIOGRAPH_TOPIC_MESSAGE_LOOKUP" default:"off" help:"Restrict topic message queries to what the topic message lookup table supports."`
	Cache                toggle `env:"HELIOGRAPH_CACHE" default:"on" help:"Cache immutable data between requests. If off, every request reads from the database."`
	Users                string `env:"HELIOGRAPH_USERS" help:"Basic credentials with their maximum page sizes, as JSON: [{\"username\":…,\"password\":…,\"limit\":…}]."`
}

// graphSettings limit and configure the GraphQL API.
type graphSettings struct {
	gateway.GraphOptions

	Trusted       string         `name:"trusted-documents" env:"HELIOGRAPH_TRUSTED_DOCUMENTS" help:"File with trusted documents: a JSON object that maps document ids to documents, or a manifest of Apollo's persisted queries."`
	OnlyTrusted   toggle         `name:"only-trusted-documents" env:"HELIOGRAPH_ONLY_TRUSTED_DOCUMENTS" default:"off" help:"Reject all documents except trusted documents and the documents of the REST API."`
	MaxStreams    int            `name:"max-subscriptions" env:"HELIOGRAPH_MAX_SUBSCRIPTIONS" min:"1" default:"20000" help:"Maximum number of open subscriptions."`
	MaxOfClient   int            `name:"max-subscriptions-per-client" env:"HELIOGRAPH_MAX_SUBSCRIPTIONS_PER_CLIENT" min:"1" default:"5000" help:"Maximum number of open subscriptions of a client address or API key."`
	MaxOnSocket   int            `name:"max-subscriptions-per-connection" env:"HELIOGRAPH_MAX_SUBSCRIPTIONS_PER_CONNECTION" min:"1" default:"100" help:"Maximum number of concurrent operations per WebSocket connection."`
	Introspection toggle         `env:"HELIOGRAPH_INTROSPECTION" default:"on" help:"Allow introspection and serve /graphql/schema.graphql. If off, errors contain no suggestions either."`
	MCP           optionalToggle `name:"mcp" env:"HELIOGRAPH_MCP" help:"Serve tools for language models (Model Context Protocol) at /mcp. Default: off, on with the demo network."`
	Plans         string         `name:"query-plans" env:"HELIOGRAPH_QUERY_PLANS" enum:",off,keys,on" default:"" help:"Clients that can request the plan of a query with the header X-Query-Plan: off, keys (those with an API key) or on (all). Those of the admin port always can. Default: off, on with the demo network."`
	Suggestions   toggle         `env:"HELIOGRAPH_SUGGESTIONS" default:"on" help:"Suggest similar names in validation errors."`
}

// mediaSettings configure what NFTs show whose files are outside of the ledger.
type mediaSettings struct {
	IPFSGateway    string   `name:"ipfs-gateway" env:"HELIOGRAPH_IPFS_GATEWAY" default:"https://ipfs.io/ipfs/" help:"URL of the IPFS gateway that clients use for files of NFTs; empty for none."`
	ArweaveGateway string   `env:"HELIOGRAPH_ARWEAVE_GATEWAY" default:"https://arweave.net/" help:"URL of the Arweave gateway that clients use for files of NFTs; empty for none."`
	FetchMedia     toggle   `env:"HELIOGRAPH_FETCH_MEDIA" default:"off" help:"Read the metadata of NFTs that are outside of the ledger, through these gateways and over HTTPS. It is up to 64 KiB of JSON and cached for an hour."`
	MediaNetworks  []string `env:"HELIOGRAPH_MEDIA_NETWORKS" placeholder:"NETWORK" help:"Addresses or networks from which metadata is read in addition to public addresses, such as 10.0.0.0/8; can be repeated."`
}

// media returns the gateways for files of NFTs, nil for an empty URL, and, if fetching is allowed, the function that
// fetches them. It connects to nothing. Invalid settings are a usage error, with which the result must not be used.
func (s *mediaSettings) media() (media.Fields, error) {
	var f media.Fields
	for gateway, text := range map[**url.URL]string{
		&f.Places.IPFS: s.IPFSGateway, &f.Places.Arweave: s.ArweaveGateway,
	} {
		u, err := url.Parse(text)
		switch {
		case text == "":
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return f, invalid("%q is not the URL of a gateway such as https://ipfs.io/ipfs/", text)
		default:
			*gateway = u
		}
	}
	allowed, err := readNetworks("HELIOGRAPH_MEDIA_NETWORKS", s.MediaNetworks)
	if s.FetchMedia.on {
		f.Fetch = mediafiles.NewFetcher(allowed).Fetch
	}
	return f, err
}

// graph returns the options of the GraphQL API from the settings. It reads the file of trusted documents and fails
// if that is invalid.
func (s *graphSettings) graph() (o gateway.GraphOptions, err error) {
	o = s.GraphOptions
	defaults := gateway.DefaultGraph()
	o.Streams, o.Backlog = defaults.Streams, defaults.Backlog
	o.Streams.Most, o.Streams.PerConnection, o.Streams.PerClient = s.MaxStreams, s.MaxOnSocket, s.MaxOfClient
	o.OnlyTrusted, o.IntrospectionOff, o.SuggestionsOff = s.OnlyTrusted.on, !s.Introspection.on, !s.Suggestions.on
	o.Trusted, err = readTrusted(s.Trusted)
	return o, err
}

// readTrusted reads the file of trusted documents and returns their texts by ID. Without a path there are none. A
// file that cannot be read or is invalid is a usage error.
func readTrusted(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, invalid("read the trusted documents: %w", err)
	}
	documents, err := parseTrusted(text)
	if err != nil {
		return nil, invalid("%s is %w", path, err)
	}
	return documents, nil
}

// apolloManifest is the format of manifests that Apollo's tools write.
const apolloManifest = "apollo-persisted-query-manifest"

var errTrusted = errors.New(
	"neither a JSON object that maps document ids to documents nor a manifest of Apollo's persisted queries",
)

// parseTrusted returns the trusted documents in the text of a file by ID. It accepts the JSON object of Relay's
// compiler and GraphQL Code Generator, and the manifest of Apollo. It fails if an operation of a manifest has no ID
// or no body, or if two different ones have the same ID.
func parseTrusted(text []byte) (map[string]string, error) {
	var documents map[string]string
	if json.Unmarshal(text, &documents) == nil && documents != nil {
		return documents, nil
	}
	var manifest struct {
		Format     string
		Operations []struct{ ID, Body string }
	}
	if json.Unmarshal(text, &manifest) != nil || manifest.Format != apolloManifest {
		return nil, errTrusted
	}
	documents = map[string]string{}
	for i, o := range manifest.Operations {
		if o.ID == "" || o.Body == "" {
			return nil, fmt.Errorf("a manifest whose operation %d has no id or no body", i+1)
		}
		if other, known := documents[o.ID]; known && other != o.Body {
			return nil, fmt.Errorf("a manifest with two bodies for the id %q", o.ID)
		}
		documents[o.ID] = o.Body
	}
	return documents, nil
}

// parseClock returns a clock that always shows the given RFC 3339 time, or the system clock if the text is empty.
// Another text is a usage error.
func parseClock(fixedTime string) (func() time.Time, error) {
	if fixedTime == "" {
		return time.Now, nil
	}
	at, err := time.Parse(time.RFC3339Nano, fixedTime)
	if err != nil {
		return nil, invalid("HELIOGRAPH_FIXED_TIME %q is not an RFC 3339 time such as 2026-01-31T12:00:00Z", fixedTime)
	}
	return func() time.Time { return at }, nil
}

// base returns the entity id 0 in the shard and realm of the ledger, from which ids without shard and realm are
// completed. A shard or realm out of range is a usage error.
func (s *ledgerSettings) base() (ledger.EntityID, error) {
	id, err := ledger.NewEntityID(s.Shard, s.Realm, 0)
	if err != nil {
		err = invalid("shard %d and realm %d: %w", s.Shard, s.Realm, err)
	}
	return id, err
}

// chainID returns the EVM chain id of the network as a quantity. The setting is decimal or "0x" and hex. It fails with
// a usage error unless the id is a positive int64.
func (s *ledgerSettings) chainID() (ledger.Quantity, error) {
	digits, base := s.ChainID, 10
	if after, ok := strings.CutPrefix(digits, "0x"); ok {
		digits, base = after, 16
	}
	id, err := strconv.ParseInt(digits, base, 64)
	if err != nil || id < 1 {
		return "", invalid("HELIOGRAPH_CHAIN_ID %q is not a chain id such as 296 or 0x128", s.ChainID)
	}
	return ledger.QuantityOfInt(id), nil
}

// feeFiles returns which system file has the price of gas, from the network, the chain id and the time since which
// simple fees apply. A configured time replaces that of the network, and no other file is read in place of a missing
// one. It reads no file.
func (s *ledgerSettings) feeFiles() (ledger.FeeFiles, error) {
	chain, err := s.chainID()
	if err != nil {
		return ledger.FeeFiles{}, err
	}
	files, err := ledger.FeeFilesOf(s.Network, chain)
	if err != nil {
		return files, invalid("HELIOGRAPH_NETWORK %q is not MAINNET, TESTNET, PREVIEWNET, DEMO or OTHER", s.Network)
	}
	if s.SimpleFeesSince >= 0 {
		files = ledger.FeeFiles{Since: ledger.Timestamp(s.SimpleFeesSince), Strict: true}
	}
	return files, nil
}

// rest checks the settings and completes the configuration of the REST API in s, to which it returns a pointer. It
// parses the fixed time, the shard and realm, and the credentials of users; an invalid one is a usage error, with
// which cfg is nil.
func (s *ledgerSettings) rest() (cfg *rest.Config, err error) {
	cfg = &s.Config
	cfg.Now, err = parseClock(s.FixedTime)
	if err != nil {
		return nil, err
	}
	cfg.Base, err = s.base()
	if err != nil {
		return nil, err
	}
	cfg.Users, err = readUsers(s.Users)
	if err != nil {
		return nil, err
	}
	cfg.DelegationAddress, cfg.BindTimestampRange = s.DelegationAddress.on, s.BindTimestampRange.on
	cfg.TopicMessageLookup, cfg.Cache = s.TopicMessageLookup.on, s.Cache.on
	cfg.MaxTransactionsRange = time.Duration(s.MaxTransactionsRange)
	return cfg, nil
}

// readUsers parses the Basic credentials in the JSON of a setting, which has none if it is empty. Invalid JSON, an
// incomplete entry, a negative limit and a repeated name are usage errors. Credentials are secret, so errors do not
// contain them.
func readUsers(text string) ([]rest.User, error) {
	if text == "" {
		return nil, nil
	}
	var users []rest.User
	if err := json.Unmarshal([]byte(text), &users); err != nil {
		return nil, invalid("HELIOGRAPH_USERS is not a JSON list of objects with username, password and limit")
	}
	seen := map[string]bool{}
	for i, u := range users {
		switch {
		case u.Username == "" || u.Password == "":
			return nil, invalid("HELIOGRAPH_USERS: entry %d has no username or no password", i+1)
		case u.Limit < 0:
			return nil, invalid("HELIOGRAPH_USERS: the limit of entry %d is negative", i+1)
		case seen[u.Username]:
			return nil, invalid("HELIOGRAPH_USERS: entry %d repeats a username", i+1)
		}
		seen[u.Username] = true
	}
	return users, nil
}

type traceSettings struct {
	TraceEndpoint string  `env:"HELIOGRAPH_TRACE_ENDPOINT" help:"URL of an OpenTelemetry collector (OTLP over HTTP) that receives traces, such as http://127.0.0.1:4318 (default: OTEL_EXPORTER_OTLP_ENDPOINT; if neither is set, tracing is off)."`
	TraceRatio    float64 `env:"HELIOGRAPH_TRACE_RATIO" default:"1" help:"Fraction of requests to trace, from 0 to 1. A traceparent header takes precedence."`
}

// traces starts the export of traces if it is configured, until [tracing.Traces.Shutdown] is called; otherwise it
// returns nil. It connects to nothing yet. Spans that cannot be delivered are reported in log. An invalid setting is a
// usage error.
func (s *traceSettings) traces(ctx context.Context, log *slog.Logger) (*tracing.Traces, error) {
	started, err := tracing.Start(ctx, tracing.Options{
		Endpoint: s.TraceEndpoint, Ratio: s.TraceRatio,
		Version: version,
		Logger:  log,
	})
	if err != nil {
		err = invalid("%w", err)
	}
	return started, err
}

type logSettings struct {
	LogFormat string `env:"HELIOGRAPH_LOG_FORMAT" enum:"auto,text,json" default:"auto" help:"Log format: text, json, or auto, which is text on a terminal and json elsewhere."`
	LogLevel  string `env:"HELIOGRAPH_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Minimum level of log records."`
}

// logger returns a new logger to standard error with the level and format of the settings.
func (s *logSettings) logger() *slog.Logger { return slog.New(s.handler(os.Stderr, lastLine)) }

// handler returns the handler of log records, which writes to out in the level and format of the settings. The format
// auto depends on whether standard error is a terminal, also for another out. An unknown level is info. replace
// changes attributes; nil changes none, and writes a line in half of the time.
func (s *logSettings) handler(out io.Writer, replace func(groups []string, a slog.Attr) slog.Attr) slog.Handler {
	var level slog.Level // info
	_ = level.UnmarshalText([]byte(s.LogLevel))
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: replace}
	if s.LogFormat == "json" || s.LogFormat == "auto" && !isTerminal(os.Stderr) {
		return slog.NewJSONHandler(out, o)
	}
	return slog.NewTextHandler(out, o)
}

// lastLine returns an attribute of a log record whose value is cut to the last line if it is an error: those of
// connections have a line for each address, and the last one has the cause.
func lastLine(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindAny {
		return a
	}
	if err, ok := a.Value.Any().(error); ok {
		text := strings.TrimSpace(err.Error())
		a.Value = slog.StringValue(strings.TrimSpace(text[strings.LastIndex(text, "\n")+1:]))
	}
	return a
}

// readNetworks parses the addresses and networks of a setting. An address is a network of one. Errors have the
// name of the setting.
func readNetworks(setting string, list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range list {
		if addr, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, invalid("%s: %q is not an address or a network such as 10.0.0.0/8", setting, text)
		}
		out = append(out, p)
	}
	return out, nil
}

// evmSettings configure the execution of contracts.
type evmSettings struct {
	contractcalls.Options

	StateOverrides optionalToggle `name:"evm-state-overrides" env:"HELIOGRAPH_EVM_STATE_OVERRIDES" help:"Allow state overrides in contract calls. Default: off, on with the demo network."`
	Simulate       optionalToggle `name:"evm-simulate" env:"HELIOGRAPH_EVM_SIMULATE" help:"Allow simulations of several contract calls. Default: off, on with the demo network."`
	Opcodes        toggle         `name:"evm-opcodes" env:"HELIOGRAPH_EVM_OPCODES" default:"on" help:"Allow traces, which execute a transaction again and return each step."`
	Prestate       optionalToggle `name:"evm-prestate" env:"HELIOGRAPH_EVM_PRESTATE" help:"Allow the states before and after transactions, which are derived from the recorded actions and state changes. Default: off, on with the demo network."`
	ValidatePayer  toggle         `name:"evm-validate-payer" env:"HELIOGRAPH_EVM_VALIDATE_PAYER" default:"off" help:"Fail calls whose sender cannot pay for them."`
	CalldataFloor  optionalToggle `name:"evm-calldata-floor" env:"HELIOGRAPH_EVM_CALLDATA_FLOOR" help:"Charge at least the call data floor price of the Prague fork. Default: in blocks that use Prague."`
	PragueBlock    *int64         `name:"evm-pectra-block" env:"HELIOGRAPH_EVM_PECTRA_BLOCK" help:"First block that uses the Prague fork. Default: on mainnet the first block of HAPI 0.77, on other networks all blocks."`
	RequestFilters string         `name:"evm-request-filters" env:"HELIOGRAPH_EVM_REQUEST_FILTERS" help:"Rules that reject or throttle contract calls, as JSON: [{\"field\":\"TO\",\"pattern\":…,\"action\":\"REJECT\"}]; see docs/evm.md."`
}

// evm returns the options of the contract call service from the settings. demo reports whether the gateway serves the
// demo network, where optional features are on by default; cache is false if nothing may be cached. The maximum gas of
// a call is at most that of all calls per second. Traces and simulations without a timeout of their own have that of
// calls. It fails with a usage error for invalid filters.
func (s *evmSettings) evm(cache, demo bool) (contractcalls.Options, error) {
	o := s.Options
	o.Overrides, o.Simulations, o.Prestate = s.StateOverrides.Or(demo), s.Simulate.Or(demo), s.Prestate.Or(demo)
	o.TracesOff, o.ValidatePayer = !s.Opcodes.on, s.ValidatePayer.on
	o.CalldataFloor, o.PragueBlock = s.CalldataFloor.Null, ledger.FromPointer(s.PragueBlock)
	o.MaxGas = min(o.MaxGas, o.GasPerSecond)
	o.Clock = time.Now
	o.TraceTimeout, o.SimulationTimeout = cmp.Or(o.TraceTimeout, o.Timeout), cmp.Or(o.SimulationTimeout, o.Timeout)
	if !cache {
		o.CacheBytes = 0
	}
	if s.RequestFilters == "" {
		return o, nil
	}
	if err := json.Unmarshal([]byte(s.RequestFilters), &o.Filters); err != nil {
		return o,
			invalid(
				"HELIOGRAPH_EVM_REQUEST_FILTERS is not a JSON list of objects with field, pattern, action and limit")
	}
	for i := range o.Filters {
		if err := o.Filters[i].Compile(); err != nil {
			return o, invalid("HELIOGRAPH_EVM_REQUEST_FILTERS: entry %d: %w", i+1, err)
		}
	}
	return o, nil
}
