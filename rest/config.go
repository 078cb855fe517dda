package rest

import (
	"sync/atomic"
	"time"

	"heliograph/internal/domain/ledger"
)

// Config is what the REST side can be told.
type Config struct {
	// Base is the shard and realm of the ledger.
	Base ledger.EntityID
	// LimitDefault and LimitMax are the page sizes.
	LimitDefault int
	LimitMax     int
	// TokensInList and TokensOfAccount are how many token balances an account shows in lists and alone.
	TokensInList    int
	TokensOfAccount int
	// MaxRepeats bounds how often a query parameter may be repeated.
	MaxRepeats int
	// DelegationAddress shows the code that accounts delegate to.
	DelegationAddress bool
	// BindTimestampRange bounds open timestamp ranges to MaxTransactionsRange.
	BindTimestampRange   bool
	MaxTransactionsRange time.Duration
	// TopicMessageLookup refuses what the lookup table of topic messages cannot answer.
	TopicMessageLookup bool
	// TracesOff refuses to run transactions again.
	TracesOff bool
	// Cache keeps what does not change, such as when the first transaction was.
	Cache bool
	// Users have page sizes of their own.
	Users []User
	// Now is the clock.
	Now func() time.Time

	firstTransaction atomic.Int64
}

// FirstTransaction is when the oldest transaction reached consensus, as ask tells. It is asked once, when there is one and the cache is on.
func (c *Config) FirstTransaction(ask func() (ledger.Timestamp, error)) (ledger.Timestamp, error) {
	if at := c.firstTransaction.Load(); at != 0 && c.Cache {
		return ledger.Timestamp(at), nil
	}
	at, err := ask()
	if err == nil {
		c.firstTransaction.Store(int64(at))
	}
	return at, err
}

// User is somebody who may ask for pages of another size, with Basic credentials.
type User struct {
	Username string `json:"username"`
	Password string `json:"password"`
	// Limit replaces LimitMax when it is not 0.
	Limit int `json:"limit"`
}
