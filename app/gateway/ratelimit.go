package gateway

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/httprate"

	"heliograph/graph/fault"
	"heliograph/graph/server"
	"heliograph/internal/base/profile"
	"heliograph/internal/base/values"
	"heliograph/internal/base/wrap"
	"heliograph/rest"
)

// RateOptions configure rate limits. The zero value means no limits.
type RateOptions struct {
	// PerMinute is the maximum number of points per minute and client address. A request has one point, and so has
	// each operation on a WebSocket; an operation has another one for each 100 of its cost. 0 means no limit.
	PerMinute int `name:"rate-limit" env:"HELIOGRAPH_RATE_LIMIT" min:"0" default:"0" help:"Maximum number of points per minute and client address (IPv6: per /64 network); 0 for no limit. A request has one point, and one more for each 100 of the cost of a GraphQL operation."`
	// KeyFile is a file with API keys. Each line consists of the hexadecimal SHA-256 of a key, a name, and optionally
	// the points per minute.
	KeyFile string `name:"api-keys" env:"HELIOGRAPH_API_KEYS" help:"File with API keys, one per line: SHA-256 of the key (hexadecimal), name, and optionally the points per minute. The file is reloaded when it changes."`
	// PerMinuteOfKeys is the maximum number of points per minute for keys without a limit in the file. 0 means no
	// limit.
	PerMinuteOfKeys int `name:"api-key-rate-limit" env:"HELIOGRAPH_API_KEY_RATE_LIMIT" min:"0" default:"0" help:"Maximum number of points per minute for API keys without a limit in the file; 0 for no limit."`
}

// keyHeader is the header with the API key, X-API-Key, in the form of keys of [http.Header]: another form is converted
// for each request.
const keyHeader = "X-Api-Key"

// PlanHeader is the header with which a client requests the plan of its operation.
const PlanHeader = "X-Query-Plan"

// rates limits requests in a sliding window of one minute.
type rates struct {
	o       RateOptions
	log     *slog.Logger
	limiter *httprate.RateLimiter

	mu     sync.Mutex
	keys   map[[sha256.Size]byte]apiKey
	read   os.FileInfo // describes the file from which the keys were read
	failed string      // last error of reading the file, logged once
}

type apiKey struct {
	name      string
	perMinute int
}

// newRates returns the rate limit of clients. It reads the file with the keys of clients that have their own
// limit, if one is configured, and fails if the file cannot be read or is invalid.
func newRates(o RateOptions, log *slog.Logger) (*rates, error) {
	r := &rates{o: o, log: log, limiter: httprate.NewRateLimiter(max(o.PerMinute, 1), time.Minute)}
	if o.KeyFile != "" {
		if err := r.load(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// load reads the key file into r if the file has changed since the last read, by its identity, time and size. It
// logs a reload. On an error the keys in r remain. The caller holds r.mu, except at startup.
func (r *rates) load() error {
	info, err := os.Stat(r.o.KeyFile)
	if err != nil {
		return fmt.Errorf("reading the file of --api-keys: %w", err)
	}
	if r.read != nil && os.SameFile(info, r.read) && info.ModTime().Equal(r.read.ModTime()) &&
		info.Size() == r.read.Size() {
		return nil
	}
	text, err := os.ReadFile(r.o.KeyFile)
	if err != nil {
		return fmt.Errorf("reading the file of --api-keys, which the user of the gateway must be able to read: %w",
			err)
	}
	keys, err := parseKeys(text)
	if err != nil {
		return fmt.Errorf("reading the API keys of %s: %w", r.o.KeyFile, err)
	}
	if r.read != nil {
		r.log.Info("API keys reloaded", "keys", len(keys))
	}
	r.keys, r.read = keys, info
	return nil
}

// parseKeys returns the clients of a key file by the SHA-256 of their keys. A line has the hash in hex, a name and
// optionally the points per minute. Empty lines and lines that start with # are ignored. Errors do not contain the
// text of a line.
func parseKeys(text []byte) (map[[sha256.Size]byte]apiKey, error) {
	keys := map[[sha256.Size]byte]apiKey{}
	names := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		var sum [sha256.Size]byte
		if len(fields) < 2 || len(fields) > 3 || len(fields[0]) != hex.EncodedLen(len(sum)) {
			return nil, fmt.Errorf("line %d is not a hexadecimal SHA-256, a name and optionally the points per minute",
				n)
		}
		if _, err := hex.Decode(sum[:], []byte(fields[0])); err != nil {
			return nil, fmt.Errorf("line %d does not start with a hexadecimal SHA-256", n)
		}
		key := apiKey{name: fields[1]}
		if len(fields) == 3 {
			limit, err := strconv.Atoi(fields[2])
			if err != nil || limit < 1 {
				return nil, fmt.Errorf("line %d: the points per minute must be a number of 1 or more", n)
			}
			key.perMinute = limit
		}
		if _, twice := keys[sum]; twice || names[key.name] {
			return nil, fmt.Errorf("line %d repeats a key or a name", n)
		}
		keys[sum], names[key.name] = key, true
	}
	return keys, wrap.Error(lines.Err(), "splitting lines")
}

// key returns the entry of an API key, and false if it is unknown. It reads the key file again if it has changed.
// If the file has become unreadable, it logs each new reason once, and the keys read before remain valid.
func (r *rates) key(text string) (apiKey, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reason := ""
	if err := r.load(); err != nil {
		if reason = err.Error(); reason != r.failed {
			r.log.Error("reloading the API keys failed; the keys loaded before remain valid", "error", err)
		}
	}
	r.failed = reason
	key, ok := r.keys[sha256.Sum256([]byte(text))]
	return key, ok
}

// rate is middleware that responds with 429 to requests that exceed the rate limit and with 401 to an unknown API key.
// It names the client after its key or address for the queue and the access log, sets the headers of the rate limit,
// and passes the request to [Gateway.run] with the client's turn in its context. Requests of [exempt] pass without a
// turn. Without a file of API keys, keys are ignored. If the client requests the plan of its operation and may have
// it, the turn records a profile.
func (g *Gateway) rate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if exempt(r) {
			next.ServeHTTP(w, r)
			return
		}
		client, limit, plans := "address "+addressOf(r), g.o.Rates.PerMinute, g.o.Graph.Plans
		if text := r.Header.Get(keyHeader); text != "" && g.o.Rates.KeyFile != "" {
			key, ok := g.rates.key(text)
			if !ok {
				g.reject(w, r, http.StatusUnauthorized, fault.Unauthenticated, "Unknown API key")
				return
			}
			limited(w).key = key.name
			plans = plans || g.o.Graph.PlansOfKeys
			if client, limit = "key "+key.name, key.perMinute; limit == 0 {
				limit = g.o.Rates.PerMinuteOfKeys
			}
		}
		class, endpoint := g.class(r)
		turn := g.o.DB.Queue().Turn(client, class)
		defer turn.End()
		if _, admin := adminKey.Of(r.Context()); r.Header.Get(PlanHeader) != "" && (plans || admin) {
			turn.Profile = profile.New(server.FieldOf)
		}
		if limit > 0 {
			counted := r.WithContext(httprate.WithRequestLimit(r.Context(), limit))
			if g.rates.limiter.OnLimit(w, counted, client) {
				g.reject(w, r, http.StatusTooManyRequests, fault.RateLimited, "Too many requests")
				return
			}
			headers := w
			if streams(r) { // its operations run concurrently, after the headers were sent
				headers = noHeaders{}
			}
			turn.Charge = func(points int) bool {
				return !g.rates.limiter.OnLimit(headers,
					counted.WithContext(httprate.WithIncrement(counted.Context(), points)), client)
			}
		}
		g.run(values.Context(r.Context(), turn.Value(), endpoint), next, w, r, turn)
	})
}

// exempt reports whether a request has no rate limit and needs no turn: one with the method OPTIONS, such as a
// preflight request of a browser, and a health check of a load balancer, below /health/.
func exempt(r *http.Request) bool {
	return r.Method == http.MethodOptions || strings.HasPrefix(r.URL.Path, "/health/")
}

type noHeaders struct{ http.ResponseWriter }

// Header returns a new map, so that headers of the rate limit are dropped: the response of a stream has begun when its
// operations are counted. Other methods of the writer panic.
func (noHeaders) Header() http.Header { return http.Header{} }

// addressOf returns the address of the client in r.RemoteAddr, without the port. IPv6 addresses of the same /64
// network count as one client.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr // set from X-Forwarded-For, without a port
	}
	return httprate.CanonicalizeIP(host)
}

// reject writes the error response of a request that gets no handler: at graphPath in the format of the GraphQL API,
// with code and the CORS headers, and at other paths in that of the REST API, without code.
func (g *Gateway) reject(w http.ResponseWriter, r *http.Request, status int, code fault.Code, message string) {
	if r.URL.Path != graphPath {
		rest.Reject(w, r, status, message)
		return
	}
	g.cors(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.WriteError(w, r, status, code, message)
	})).ServeHTTP(w, r)
}
