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
	Base ledger.EntityID
	// LimitDefault and LimitMax are the default and maximum page sizes.
	LimitDefault int
	LimitMax     int
	// TokensInList and TokensOfAccount limit the token balances of an account in lists and in a single account.
	TokensInList    int
	TokensOfAccount int
	// MaxRepeats is the maximum number of values of a query parameter.
	MaxRepeats int
	// DelegationAddress shows the delegation address of accounts.
	DelegationAddress bool
	// BindTimestampRange limits open timestamp ranges to MaxTransactionsRange.
	BindTimestampRange   bool
	MaxTransactionsRange time.Duration
	// TopicMessageLookup rejects queries that the lookup table of topic messages does not support.
	TopicMessageLookup bool
	// FeeBodyBytes is the maximum size of a transaction whose fee is estimated, in bytes. 0 means the default, 7168.
	FeeBodyBytes int64
	// ClusterID is the value of the header X-Cluster-Id of responses. They do not have the header if it is empty.
	ClusterID string
	// ReceiptsRoots reports whether the database has the receipts roots of blocks. Nil means that it has.
	ReceiptsRoots func() bool
	// AdmitTrace and AdmitPrestate report whether another trace, or another state before a transaction, may be read
	// now.
	AdmitTrace, AdmitPrestate func() bool
	// Prestate enables the states before and after transactions.
	Prestate bool
	// TracesOff disables traces, which run transactions again.
	TracesOff bool
	// Cache caches values that do not change, such as the time of the first transaction.
	Cache bool
	// Users have their own page sizes.
	Users []User
	// Now returns the current time.
	Now func() time.Time

	firstTransaction atomic.Int64
}

// FirstTransaction returns the consensus timestamp of the oldest transaction, which read returns. With the cache on,
// it calls read until a transaction exists and then returns the cached value.
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
