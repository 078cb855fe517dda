package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"heliograph/app/gateway"
	"heliograph/app/tracing"
	"heliograph/graph/limits"
	"heliograph/internal/domain/ledger"
	"heliograph/rest"
	"heliograph/storage/embedded"
)

// toggle is a switch: on/off, true/false, 1/0, yes/no.
type toggle struct{ on bool }

// UnmarshalText reads a switch.
func (t *toggle) UnmarshalText(text []byte) error {
	switch strings.ToLower(string(text)) {
	case "on", "true", "1", "yes":
		t.on = true
	case "off", "false", "0", "no", "":
		t.on = false
	default:
		return fmt.Errorf("%q is neither on nor off", text)
	}
	return nil
}

// demoMode says what becomes of the demo network: a switch, or live.
type demoMode struct {
	toggle
	live bool
}

// UnmarshalText reads a switch, or live.
func (m *demoMode) UnmarshalText(text []byte) error {
	if m.live = strings.EqualFold(string(text), "live"); m.live {
		m.on = true
		return nil
	}
	if m.toggle.UnmarshalText(text) != nil {
		return fmt.Errorf("%q is none of on, off and live", text)
	}
	return nil
}

// databaseSettings say which database is used.
type databaseSettings struct {
	DatabaseURL string `env:"HELIOGRAPH_DATABASE_URL" help:"PostgreSQL with the mirror tables, as URL or keyword string. Without it an embedded server is started."`
	StatusURL   string `name:"status-database-url" env:"HELIOGRAPH_STATUS_DATABASE_URL" help:"PostgreSQL with the status tables (default: the same database)."`
	DataDir     string `env:"HELIOGRAPH_DATA_DIR" help:"Folder of the embedded PostgreSQL (default: the user's data folder)."`
	PGBindir    string `name:"pg-bindir" env:"HELIOGRAPH_PG_BINDIR" help:"Folder with the PostgreSQL programs for the embedded server (default: found)."`
}

// statusURL is where the status tables are, in a database of their own or in the ledger's.
func (s *databaseSettings) statusURL(ledger string) (string, error) {
	if s.StatusURL == "" {
		return ledger, nil
	}
	if _, err := pgx.ParseConfig(s.StatusURL); err != nil {
		// The driver's text can hold the password.
		return "", errors.New("HELIOGRAPH_STATUS_DATABASE_URL is not a PostgreSQL URL such as postgres://user@host:5432/name")
	}
	return s.StatusURL, nil
}

// dataDir is the folder of the embedded server.
func (s *databaseSettings) dataDir() (string, error) {
	if s.DataDir != "" {
		return s.DataDir, nil
	}
	dir, err := embedded.DefaultDataDir()
	if err != nil {
		return "", fmt.Errorf("finding a data folder: %w", err)
	}
	return dir, nil
}

// ledgerSettings say what ledger it is and how the old API answers.
type ledgerSettings struct {
	Shard     int64  `env:"HELIOGRAPH_SHARD" default:"0" help:"The ledger's shard."`
	Realm     int64  `env:"HELIOGRAPH_REALM" default:"0" help:"The ledger's realm."`
	ChainID   string `env:"HELIOGRAPH_CHAIN_ID" default:"0x128" help:"The network's chain id in the EVM, decimal or 0x and hex."`
	FixedTime string `env:"HELIOGRAPH_FIXED_TIME" help:"RFC 3339 instant at which \"now\" stands still (default: the real clock)."`

	LimitDefault              int    `env:"HELIOGRAPH_LIMIT_DEFAULT" default:"25" help:"Rows of a page where the client does not say."`
	LimitMax                  int    `env:"HELIOGRAPH_LIMIT_MAX" default:"100" help:"Rows of a page at most."`
	LimitTokenBalancesList    int    `env:"HELIOGRAPH_LIMIT_TOKEN_BALANCES_LIST" default:"50" help:"Token balances of each account in lists."`
	LimitTokenBalancesAccount int    `env:"HELIOGRAPH_LIMIT_TOKEN_BALANCES_ACCOUNT" default:"1000" help:"Token balances of a single account."`
	MaxRepeatedParameters     int    `env:"HELIOGRAPH_MAX_REPEATED_PARAMETERS" default:"100" help:"Repeats of one query parameter at most."`
	DelegationAddress         toggle `env:"HELIOGRAPH_DELEGATION_ADDRESS" default:"off" help:"Show delegation_address of accounts."`
	BindTimestampRange        toggle `env:"HELIOGRAPH_BIND_TIMESTAMP_RANGE" default:"off" help:"Bound open timestamp ranges of transactions."`
	MaxTransactionsRange      int64  `name:"max-transactions-timestamp-range-ns" env:"HELIOGRAPH_MAX_TRANSACTIONS_TIMESTAMP_RANGE_NS" default:"5184000000000000" help:"The length to which they are bounded, in nanoseconds."`
	MaxFileAttempts           int    `env:"HELIOGRAPH_MAX_FILE_ATTEMPTS" default:"12" help:"Versions of a system file that are tried, from the newest on, until one can be read."`
	TopicMessageLookup        toggle `env:"HELIOGRAPH_TOPIC_MESSAGE_LOOKUP" default:"off" help:"Answer as if topic messages were found through their lookup table, which knows ranges only."`
	Cache                     toggle `env:"HELIOGRAPH_CACHE" default:"on" help:"Keep between requests what does not change; off asks the database every time."`
	Users                     string `env:"HELIOGRAPH_USERS" help:"Basic credentials with page limits of their own, as JSON: [{\"username\":…,\"password\":…,\"limit\":…}]."`
}

// graphSettings say what clients of the graph may do.
type graphSettings struct {
	MaxCost       int           `name:"max-query-cost" env:"HELIOGRAPH_MAX_QUERY_COST" default:"50000" help:"What an operation of the graph may cost: about the number of objects that its answer can hold."`
	MaxBytes      int           `name:"max-query-bytes" env:"HELIOGRAPH_MAX_QUERY_BYTES" default:"65536" help:"Bytes of a document at most; long values belong into variables."`
	MaxTokens     int           `name:"max-query-tokens" env:"HELIOGRAPH_MAX_QUERY_TOKENS" default:"5000" help:"Lexical tokens of a document at most."`
	MaxDepth      int           `name:"max-query-depth" env:"HELIOGRAPH_MAX_QUERY_DEPTH" default:"20" help:"How deep fields may lie in a document."`
	MaxFields     int           `name:"max-query-fields" env:"HELIOGRAPH_MAX_QUERY_FIELDS" default:"1000" help:"Fields of a document at most; those of fragments count each time they are spread."`
	MaxRootFields int           `name:"max-query-root-fields" env:"HELIOGRAPH_MAX_QUERY_ROOT_FIELDS" default:"30" help:"Root fields of an operation at most."`
	MaxAliases    int           `name:"max-query-aliases" env:"HELIOGRAPH_MAX_QUERY_ALIASES" default:"50" help:"How often one place of a document may ask for one field, under whatever names."`
	MaxDirectives int           `name:"max-query-directives" env:"HELIOGRAPH_MAX_QUERY_DIRECTIVES" default:"50" help:"Directives of a document at most."`
	MaxBody       int64         `name:"max-body-bytes" env:"HELIOGRAPH_MAX_BODY_BYTES" default:"524288" help:"Bytes of a request body to the graph at most."`
	MaxValues     int           `name:"max-body-values" env:"HELIOGRAPH_MAX_BODY_VALUES" default:"10000" help:"JSON values of a request body to the graph at most, those of the variables included."`
	Trusted       string        `name:"trusted-documents" env:"HELIOGRAPH_TRUSTED_DOCUMENTS" help:"File of documents that clients may ask for by ids: a JSON object of ids and texts."`
	OnlyTrusted   toggle        `name:"only-trusted-documents" env:"HELIOGRAPH_ONLY_TRUSTED_DOCUMENTS" default:"off" help:"Refuse all documents but those of the file and those that the REST API runs."`
	CacheBytes    int64         `name:"response-cache-bytes" env:"HELIOGRAPH_RESPONSE_CACHE_BYTES" default:"67108864" help:"Bytes of answers of the graph that are kept until the next block comes; 0 for none. --cache off keeps none either."`
	MaxStreams    int           `name:"max-subscriptions" env:"HELIOGRAPH_MAX_SUBSCRIPTIONS" default:"20000" help:"Subscriptions that may be open at a time."`
	MaxOnSocket   int           `name:"max-subscriptions-per-connection" env:"HELIOGRAPH_MAX_SUBSCRIPTIONS_PER_CONNECTION" default:"100" help:"Operations that may run on one WebSocket at a time."`
	PollInterval  time.Duration `env:"HELIOGRAPH_POLL_INTERVAL" default:"250ms" help:"How often new rows are looked for while somebody is subscribed, whatever their number."`
	Introspection toggle        `env:"HELIOGRAPH_INTROSPECTION" default:"on" help:"Tell the schema to clients: introspection and /graphql/schema.graphql. Without it there are no suggestions either."`
	Suggestions   toggle        `env:"HELIOGRAPH_SUGGESTIONS" default:"on" help:"Tell names that are like a wrong one in a document."`
}

// rateSettings say how often clients may ask.
type rateSettings struct {
	RateLimit       int    `env:"HELIOGRAPH_RATE_LIMIT" default:"0" help:"Requests a minute that one address (IPv6: one /64 network) may send; 0 for any number."`
	APIKeys         string `name:"api-keys" env:"HELIOGRAPH_API_KEYS" help:"File of API keys, which have limits of their own: lines of a key's SHA-256 in hex, a name, and the requests a minute. It is read again when it changes."`
	APIKeyRateLimit int    `name:"api-key-rate-limit" env:"HELIOGRAPH_API_KEY_RATE_LIMIT" default:"0" help:"Requests a minute with an API key for which the file says nothing; 0 for any number."`
}

// rates are the settings as the gateway takes them.
func (s *rateSettings) rates() (gateway.RateOptions, error) {
	for name, n := range map[string]int{"HELIOGRAPH_RATE_LIMIT": s.RateLimit, "HELIOGRAPH_API_KEY_RATE_LIMIT": s.APIKeyRateLimit} {
		if n < 0 {
			return gateway.RateOptions{}, fmt.Errorf("%s must be 0 or more, not %d", name, n)
		}
	}
	return gateway.RateOptions{PerMinute: s.RateLimit, KeyFile: s.APIKeys, PerMinuteOfKeys: s.APIKeyRateLimit}, nil
}

// graph is what clients of the graph may do.
func (s *graphSettings) graph() (gateway.GraphOptions, error) {
	for name, n := range map[string]int64{
		"HELIOGRAPH_MAX_QUERY_COST": int64(s.MaxCost), "HELIOGRAPH_MAX_QUERY_BYTES": int64(s.MaxBytes), "HELIOGRAPH_MAX_QUERY_TOKENS": int64(s.MaxTokens), "HELIOGRAPH_MAX_QUERY_DEPTH": int64(s.MaxDepth),
		"HELIOGRAPH_MAX_QUERY_FIELDS": int64(s.MaxFields), "HELIOGRAPH_MAX_QUERY_ROOT_FIELDS": int64(s.MaxRootFields), "HELIOGRAPH_MAX_QUERY_ALIASES": int64(s.MaxAliases),
		"HELIOGRAPH_MAX_QUERY_DIRECTIVES": int64(s.MaxDirectives), "HELIOGRAPH_MAX_BODY_BYTES": s.MaxBody, "HELIOGRAPH_MAX_BODY_VALUES": int64(s.MaxValues),
		"HELIOGRAPH_MAX_SUBSCRIPTIONS": int64(s.MaxStreams), "HELIOGRAPH_MAX_SUBSCRIPTIONS_PER_CONNECTION": int64(s.MaxOnSocket), "HELIOGRAPH_POLL_INTERVAL": int64(s.PollInterval),
	} {
		if n < 1 {
			return gateway.GraphOptions{}, fmt.Errorf("%s must be 1 or more, not %d", name, n)
		}
	}
	if s.CacheBytes < 0 {
		return gateway.GraphOptions{}, fmt.Errorf("HELIOGRAPH_RESPONSE_CACHE_BYTES must be 0 or more, not %d", s.CacheBytes)
	}
	trusted, err := readTrusted(s.Trusted)
	if err != nil {
		return gateway.GraphOptions{}, err
	}
	o := gateway.DefaultGraph()
	streams := o.Streams
	streams.Most, streams.PerConnection = s.MaxStreams, s.MaxOnSocket
	return gateway.GraphOptions{
		Streams: streams, PollInterval: s.PollInterval, Backlog: o.Backlog,
		Trusted: trusted, OnlyTrusted: s.OnlyTrusted.on, CacheBytes: s.CacheBytes,
		Bounds: limits.Limits{
			Cost: s.MaxCost, Bytes: s.MaxBytes, Tokens: s.MaxTokens, Depth: s.MaxDepth, Fields: s.MaxFields, RootFields: s.MaxRootFields, Aliases: s.MaxAliases, Directives: s.MaxDirectives,
		},
		MaxBody: s.MaxBody, MaxValues: s.MaxValues, IntrospectionOff: !s.Introspection.on, SuggestionsOff: !s.Suggestions.on,
	}, nil
}

// readTrusted reads the documents that clients may ask for by ids.
func readTrusted(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the trusted documents: %w", err)
	}
	var documents map[string]string
	if err := json.Unmarshal(text, &documents); err != nil {
		return nil, fmt.Errorf("the trusted documents in %s are not a JSON object of ids and texts", path)
	}
	return documents, nil
}

// clock is the clock that the settings ask for.
func (s *ledgerSettings) clock() (func() time.Time, error) {
	if s.FixedTime == "" {
		return time.Now, nil
	}
	at, err := time.Parse(time.RFC3339Nano, s.FixedTime)
	if err != nil {
		return nil, fmt.Errorf("HELIOGRAPH_FIXED_TIME %q is no RFC 3339 instant such as 2026-01-31T12:00:00Z", s.FixedTime)
	}
	return func() time.Time { return at }, nil
}

// base is the ledger's shard and realm as an entity id.
func (s *ledgerSettings) base() (ledger.EntityID, error) {
	id, err := ledger.NewEntityID(s.Shard, s.Realm, 0)
	if err != nil {
		return 0, fmt.Errorf("shard %d and realm %d: %w", s.Shard, s.Realm, err)
	}
	return id, nil
}

// chainID is the network's chain id in the EVM.
func (s *ledgerSettings) chainID() (ledger.Quantity, error) {
	digits, base := s.ChainID, 10
	if after, ok := strings.CutPrefix(digits, "0x"); ok {
		digits, base = after, 16
	}
	id, err := strconv.ParseInt(digits, base, 64)
	if err != nil || id < 1 {
		return "", fmt.Errorf("HELIOGRAPH_CHAIN_ID %q is no chain id such as 296 or 0x128", s.ChainID)
	}
	return ledger.QuantityOfInt(id), nil
}

// rest is the configuration of the REST side.
func (s *ledgerSettings) rest() (*rest.Config, error) {
	now, err := s.clock()
	if err != nil {
		return nil, err
	}
	base, err := s.base()
	if err != nil {
		return nil, err
	}
	for name, n := range map[string]int{
		"HELIOGRAPH_LIMIT_DEFAULT": s.LimitDefault, "HELIOGRAPH_LIMIT_MAX": s.LimitMax, "HELIOGRAPH_LIMIT_TOKEN_BALANCES_LIST": s.LimitTokenBalancesList,
		"HELIOGRAPH_LIMIT_TOKEN_BALANCES_ACCOUNT": s.LimitTokenBalancesAccount, "HELIOGRAPH_MAX_REPEATED_PARAMETERS": s.MaxRepeatedParameters,
		"HELIOGRAPH_MAX_FILE_ATTEMPTS": s.MaxFileAttempts,
	} {
		if n < 1 {
			return nil, fmt.Errorf("%s must be 1 or more, not %d", name, n)
		}
	}
	if s.MaxTransactionsRange < 1 {
		return nil, fmt.Errorf("HELIOGRAPH_MAX_TRANSACTIONS_TIMESTAMP_RANGE_NS must be 1 or more, not %d", s.MaxTransactionsRange)
	}
	users, err := readUsers(s.Users)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Base: base, LimitDefault: s.LimitDefault, LimitMax: s.LimitMax, TokensInList: s.LimitTokenBalancesList, TokensOfAccount: s.LimitTokenBalancesAccount,
		MaxRepeats: s.MaxRepeatedParameters, DelegationAddress: s.DelegationAddress.on, BindTimestampRange: s.BindTimestampRange.on,
		MaxTransactionsRange: time.Duration(s.MaxTransactionsRange), TopicMessageLookup: s.TopicMessageLookup.on, Users: users, Cache: s.Cache.on, Now: now,
	}, nil
}

// readUsers reads the Basic credentials. The text is a secret: no error repeats it.
func readUsers(text string) ([]rest.User, error) {
	if text == "" {
		return nil, nil
	}
	var users []rest.User
	if err := json.Unmarshal([]byte(text), &users); err != nil {
		return nil, errors.New("HELIOGRAPH_USERS is not a JSON list of objects with username, password and limit")
	}
	seen := map[string]bool{}
	for i, u := range users {
		switch {
		case u.Username == "" || u.Password == "":
			return nil, fmt.Errorf("HELIOGRAPH_USERS: entry %d lacks a username or a password", i+1)
		case u.Limit < 0:
			return nil, fmt.Errorf("HELIOGRAPH_USERS: the limit of entry %d is negative", i+1)
		case seen[u.Username]:
			return nil, fmt.Errorf("HELIOGRAPH_USERS: entry %d repeats a username", i+1)
		}
		seen[u.Username] = true
	}
	return users, nil
}

// traceSettings say where traces go.
type traceSettings struct {
	TraceEndpoint string  `env:"HELIOGRAPH_TRACE_ENDPOINT" help:"URL of an OpenTelemetry collector (OTLP over HTTP) that gets traces, such as http://127.0.0.1:4318 (default: that of OTEL_EXPORTER_OTLP_ENDPOINT; without any there are no traces)."`
	TraceRatio    float64 `env:"HELIOGRAPH_TRACE_RATIO" default:"1" help:"Part of the requests that are traced, 0 to 1; for a request with a traceparent, that decides."`
}

// traces starts to send traces, where the settings ask for them. What is lost is told in the log.
func (s *traceSettings) traces(ctx context.Context, log *slog.Logger) (*tracing.Traces, error) {
	return tracing.Start(ctx, tracing.Options{Endpoint: s.TraceEndpoint, Ratio: s.TraceRatio, Version: version, Logger: log})
}

// logSettings say how to log.
type logSettings struct {
	LogFormat string `env:"HELIOGRAPH_LOG_FORMAT" enum:"auto,text,json" default:"auto" help:"Form of the log: text, json, or auto: text on a terminal."`
	LogLevel  string `env:"HELIOGRAPH_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"Least level that is logged."`
}

// logger makes the log.
func (s *logSettings) logger() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: level}
	info, err := os.Stderr.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	if s.LogFormat == "json" || s.LogFormat == "auto" && !terminal {
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}

// readProxies reads the addresses whose forwarding headers are believed.
func readProxies(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range list {
		if addr, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("HELIOGRAPH_TRUSTED_PROXIES: %q is neither an address nor a network such as 10.0.0.0/8", text)
		}
		out = append(out, p)
	}
	return out, nil
}
