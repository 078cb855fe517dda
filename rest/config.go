package rest

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"heliograph/internal/domain/ledger"
)

// Config has the settings of the REST APIs.
type Config struct {
	// Base is the ledger's default shard and realm.
	Base ledger.EntityID `kong:"-"`
	// LimitDefault and LimitMax are the default and maximum page sizes.
	LimitDefault int `name:"limit-default" env:"HELIOGRAPH_LIMIT_DEFAULT" min:"1" default:"25" help:"Default page size."`
	LimitMax     int `name:"limit-max" env:"HELIOGRAPH_LIMIT_MAX" min:"1" default:"100" help:"Maximum page size."`
	// TokensInList and TokensOfAccount limit the token balances of an account in lists and in a single account.
	TokensInList    int `name:"limit-token-balances-list" env:"HELIOGRAPH_LIMIT_TOKEN_BALANCES_LIST" min:"1" default:"50" help:"Maximum number of token balances of each account in lists."`
	TokensOfAccount int `name:"limit-token-balances-account" env:"HELIOGRAPH_LIMIT_TOKEN_BALANCES_ACCOUNT" min:"1" default:"1000" help:"Maximum number of token balances of a single account."`
	// MaxRepeats is the maximum number of values of a query parameter.
	MaxRepeats int `name:"max-repeated-parameters" env:"HELIOGRAPH_MAX_REPEATED_PARAMETERS" min:"1" default:"100" help:"Maximum number of repetitions of a query parameter."`
	// DelegationAddress shows the delegation address of accounts.
	DelegationAddress bool `kong:"-"`
	// BindTimestampRange limits open timestamp ranges to MaxTransactionsRange.
	BindTimestampRange   bool          `kong:"-"`
	MaxTransactionsRange time.Duration `kong:"-"`
	// TopicMessageLookup rejects queries that the lookup table of topic messages does not support.
	TopicMessageLookup bool `kong:"-"`
	// FeeBodyBytes is the maximum size of a transaction whose fee is estimated, in bytes. 0 means the default, 7168.
	FeeBodyBytes int64 `name:"fee-body-bytes" env:"HELIOGRAPH_FEE_BODY_BYTES" min:"1" default:"7168" help:"Maximum size of a transaction whose fee is estimated in the REST API, in bytes."`
	// ClusterID is the value of the header X-Cluster-Id of responses. They do not have the header if it is empty.
	ClusterID string `name:"cluster-id" env:"HELIOGRAPH_CLUSTER_ID" help:"Value of the header x-cluster-id of responses of the REST API (default: responses have no such header)."`
	// ReceiptsRoots reports whether the database has the receipts roots of blocks. Nil means that it has.
	ReceiptsRoots func() bool `kong:"-"`
	// AdmitTrace and AdmitPrestate report whether another trace, or another state before a transaction, may be read
	// now.
	AdmitTrace, AdmitPrestate func() bool `kong:"-"`
	// Prestate enables the states before and after transactions.
	Prestate bool `kong:"-"`
	// TracesOff disables traces, which run transactions again.
	TracesOff bool `kong:"-"`
	// Cache caches values that do not change, such as the time of the first transaction.
	Cache bool `kong:"-"`
	// Users have their own page sizes.
	Users []User `kong:"-"`
	// Now returns the current time.
	Now func() time.Time `kong:"-"`

	firstTransaction atomic.Int64
}

// FirstTransaction returns the consensus timestamp of the oldest transaction, which read returns, or 0 if there is
// none. With the cache on, it calls read until a transaction exists and then returns the cached value. With the cache
// off, it calls read each time. It caches no errors, which it returns. Concurrent calls are safe, and may read at the
// same time.
func (c *Config) FirstTransaction(read func() (ledger.Timestamp, error)) (ledger.Timestamp, error) {
	if at := c.firstTransaction.Load(); at != 0 && c.Cache {
		return ledger.Timestamp(at), nil
	}
	at, err := read()
	if err == nil {
		c.firstTransaction.Store(int64(at))
	}
	return at, err
}

// User is a user with Basic credentials and an own maximum page size.
type User struct {
	Username string `json:"username"`
	Password string `json:"password"`
	// Limit replaces LimitMax unless it is 0.
	Limit int `json:"limit"`
}

// CompatibleVersion is the version of the mirror node REST API that the API under /api/v1 is compatible with.
const CompatibleVersion = "0.167"

// The placeholders of OpenAPI documents for values that are not known at build time.
const (
	VersionPlaceholder      = "GATEWAY_VERSION"
	LimitDefaultPlaceholder = "LIMIT_DEFAULT"
	MaxRepeatsPlaceholder   = "MAX_REPEATS"
	CompatiblePlaceholder   = "COMPATIBLE_VERSION"
)

// FillOpenAPI replaces the placeholders of an OpenAPI document, in JSON or YAML, by the settings and the version of
// the gateway.
func (c *Config) FillOpenAPI(document, version string) []byte {
	limit, repeats, version := strconv.Itoa(c.LimitDefault), strconv.Itoa(c.MaxRepeats), strconv.Quote(version)
	return []byte(strings.NewReplacer(
		CompatiblePlaceholder, CompatibleVersion,
		`"`+VersionPlaceholder+`"`, version, VersionPlaceholder, version,
		`"`+LimitDefaultPlaceholder+`"`, limit, LimitDefaultPlaceholder, limit,
		`"`+MaxRepeatsPlaceholder+`"`, repeats, MaxRepeatsPlaceholder, repeats,
	).Replace(document))
}
