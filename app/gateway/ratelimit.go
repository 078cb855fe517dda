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
	"heliograph/rest"
)

// RateOptions bound how often clients may ask. The zero value bounds nothing.
type RateOptions struct {
	// PerMinute is how many requests a minute one address may send, 0 for any number.
	PerMinute int
	// KeyFile holds API keys: a line has the key's SHA-256 as hex, a name, and the requests a minute or nothing. Empty for no keys.
	KeyFile string
	// PerMinuteOfKeys is how many requests a minute go with a key for which the file says nothing, 0 for any number.
	PerMinuteOfKeys int
}

// keyHeader is the header that carries a client's API key.
const keyHeader = "X-API-Key"

// rates counts requests. The window slides: what was sent in the last minute counts.
type rates struct {
	o       RateOptions
	log     *slog.Logger
	limiter *httprate.RateLimiter

	mu     sync.Mutex
	keys   map[[sha256.Size]byte]apiKey
	read   os.FileInfo // of the file that keys were read from
	failed string      // why the file could not be read, told once
}

// apiKey is what the file says of a key.
type apiKey struct {
	name      string
	perMinute int
}

func newRates(o RateOptions, log *slog.Logger) (*rates, error) {
	r := &rates{o: o, log: log, limiter: httprate.NewRateLimiter(max(o.PerMinute, 1), time.Minute)}
	if o.KeyFile != "" {
		if err := r.load(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// load reads the file of keys when it has changed.
func (r *rates) load() error {
	info, err := os.Stat(r.o.KeyFile)
	if err != nil {
		return fmt.Errorf("looking at the API keys: %w", err)
	}
	if r.read != nil && os.SameFile(info, r.read) && info.ModTime().Equal(r.read.ModTime()) && info.Size() == r.read.Size() {
		return nil
	}
	text, err := os.ReadFile(r.o.KeyFile)
	if err != nil {
		return fmt.Errorf("reading the API keys: %w", err)
	}
	keys, err := parseKeys(text)
	if err != nil {
		return fmt.Errorf("reading the API keys of %s: %w", r.o.KeyFile, err)
	}
	r.keys, r.read = keys, info
	return nil
}

// parseKeys reads a file of keys. Empty lines and those that begin with # say nothing. No error repeats what a line says.
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
			return nil, fmt.Errorf("line %d is not a SHA-256 in hex, a name, and perhaps the requests a minute", n)
		}
		if _, err := hex.Decode(sum[:], []byte(fields[0])); err != nil {
			return nil, fmt.Errorf("line %d does not begin with a SHA-256 in hex", n)
		}
		key := apiKey{name: fields[1]}
		if len(fields) == 3 {
			limit, err := strconv.Atoi(fields[2])
			if err != nil || limit < 1 {
				return nil, fmt.Errorf("line %d: the requests a minute must be a number, 1 or more", n)
			}
			key.perMinute = limit
		}
		if _, twice := keys[sum]; twice || names[key.name] {
			return nil, fmt.Errorf("line %d repeats a key or a name", n)
		}
		keys[sum], names[key.name] = key, true
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("splitting lines: %w", err)
	}
	return keys, nil
}

// key is what the file says of a client's key. A file that has become unreadable leaves what was read before.
func (r *rates) key(text string) (apiKey, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reason := ""
	if err := r.load(); err != nil {
		if reason = err.Error(); reason != r.failed {
			r.log.Error("the API keys cannot be read again; those read before stay", "error", err)
		}
	}
	r.failed = reason
	key, ok := r.keys[sha256.Sum256([]byte(text))]
	return key, ok
}

// rate refuses requests of clients that send too many, and keys that nobody has.
func (g *Gateway) rate(next http.Handler) http.Handler {
	if g.o.Rates.PerMinute == 0 && g.o.Rates.KeyFile == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions || strings.HasPrefix(r.URL.Path, "/health/") { // asked by browsers and load balancers themselves
			next.ServeHTTP(w, r)
			return
		}
		who, limit := "address "+addressOf(r), g.o.Rates.PerMinute
		if text := r.Header.Get(keyHeader); text != "" && g.o.Rates.KeyFile != "" {
			key, ok := g.rates.key(text)
			if !ok {
				g.refuse(w, r, http.StatusUnauthorized, fault.Unauthenticated, "Unknown API key")
				return
			}
			if who, limit = "key "+key.name, key.perMinute; limit == 0 {
				limit = g.o.Rates.PerMinuteOfKeys
			}
		}
		if limit > 0 {
			if counted := r.WithContext(httprate.WithRequestLimit(r.Context(), limit)); g.rates.limiter.OnLimit(w, counted, who) {
				g.refuse(w, r, http.StatusTooManyRequests, fault.RateLimited, "Too many requests")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// addressOf is the address of a request's client; networks of IPv6 that one customer gets count as one.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr // as a trusted proxy tells it
	}
	ip := net.ParseIP(host)
	if ip == nil || ip.To4() != nil {
		return host
	}
	return ip.Mask(net.CIDRMask(64, 128)).String()
}

// refuse answers a request that is not even read, in the form of what it asks for.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, status int, code fault.Code, message string) {
	if r.URL.Path != "/graphql" {
		rest.Refuse(w, r, status, message)
		return
	}
	g.cors(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { server.WriteError(w, r, status, code, message) })).ServeHTTP(w, r)
}
