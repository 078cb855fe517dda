package webhooks_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heliograph/app/webhooks"
	"heliograph/internal/domain/status"
	"heliograph/storage"
	"heliograph/storage/pgtest/tables"
	"heliograph/storage/statuspages"
)

var author = statuspages.Author{Name: "test"}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// newPage opens a database with a page and returns its editor and the code of the page.
func newPage(t *testing.T) (*statuspages.Editor, string) {
	t.Helper()
	db, err := statuspages.Open(t.Context(), storage.PoolOptions{
		URL:              tables.Status.Fresh(t),
		StatementTimeout: 30 * time.Second, MaxConnections: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	editor := statuspages.NewEditor(db, time.Now)
	page, err := editor.InitPage(t.Context(), author,
		status.Page{Name: "P", URL: "https://p.example"}, "A")
	if err != nil {
		t.Fatal(err)
	}
	return editor, page
}

// receiver counts the requests and the different messages by path.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string]int
	messages map[string]int // by path and id
	last     *http.Request
	body     string
}

func newReceiver(t *testing.T, respond func(w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	x := &receiver{requests: map[string]int{}, messages: map[string]int{}}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		x.mu.Lock()
		x.requests[r.URL.Path]++
		x.messages[r.URL.Path+" "+r.Header.Get("Webhook-Id")]++
		if r.URL.Path == "/ok" {
			x.last, x.body = r, string(body)
		}
		x.mu.Unlock()
		respond(w, r)
	}))
	t.Cleanup(x.Close)
	return x
}

func (x *receiver) count(path string) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.requests[path]
}

// start runs a sender until the returned function is called.
func start(t *testing.T, editor *statuspages.Editor, allowed []netip.Prefix) (s *webhooks.Sender, stop func()) {
	t.Helper()
	s = webhooks.New(editor, time.Now, slog.New(slog.DiscardHandler), allowed)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { s.Run(ctx) })
	stop = func() {
		cancel()
		done.Wait()
	}
	t.Cleanup(stop)
	return s, stop
}

// wait waits until a condition holds.
func wait(t *testing.T, what string, most time.Duration, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %s", what, most)
		}
	}
}

func open(t *testing.T, editor *statuspages.Editor, page, name string) string {
	t.Helper()
	code, err := editor.OpenIncident(t.Context(), author, page, status.NewIncident{Name: name, Body: "x"})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func add(t *testing.T, editor *statuspages.Editor, page, url string) (code, secret string) {
	t.Helper()
	code, secret, err := editor.AddWebhook(t.Context(), author, page, status.NewWebhook{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return code, secret
}

// TestSender sends to receivers that accept, reject, redirect and never respond. Two senders send each message once.
func TestSender(t *testing.T) {
	t.Parallel()
	editor, page := newPage(t)
	hanging := make(chan struct{})
	x := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; path {
		case "/500":
			w.WriteHeader(http.StatusInternalServerError)
		case "/410":
			w.WriteHeader(http.StatusGone)
		case "/307":
			http.Redirect(w, r, "/target", http.StatusTemporaryRedirect)
		case "/302":
			http.Redirect(w, r, "/lost", http.StatusFound)
		case "/private":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusTemporaryRedirect)
		case "/hang":
			<-hanging
		}
	})
	defer close(hanging)
	_, secret := add(t, editor, page, x.URL+"/ok")
	codes := map[string]string{}
	for _, path := range []string{"/500", "/410", "/307", "/302", "/private", "/hang"} {
		codes[path], _ = add(t, editor, page, x.URL+path)
	}
	refusing := httptest.NewServer(nil)
	refusing.Close()
	codes["refused"], _ = add(t, editor, page, refusing.URL)
	for i := range 50 {
		add(t, editor, page, fmt.Sprintf("%s/many/%d", x.URL, i))
	}
	first, _ := start(t, editor, loopback)
	second, _ := start(t, editor, loopback)
	open(t, editor, page, "Slow")
	open(t, editor, page, "Slower")
	wait(t, "both messages", 15*time.Second, func() bool {
		n := 0
		for i := range 50 {
			n += x.count(fmt.Sprintf("/many/%d", i))
		}
		return x.count("/ok") >= 2 && n >= 100
	})
	wait(t, "failures", 15*time.Second, func() bool {
		hooks, err := editor.DB().Webhooks(t.Context(), page)
		failed := 0
		for _, h := range hooks {
			if h.Failures > 0 {
				failed++
			}
		}
		return err == nil && failed == 6
	})
	hooks, err := editor.DB().Webhooks(t.Context(), page)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks {
		want := map[string]string{
			codes["/500"]: "status 500", codes["/410"]: "status 410", codes["/302"]: "status 302",
			codes["/private"]: "10.0.0.1 is not a public address",
			codes["/hang"]:    "no response within 10s", codes["refused"]: "refused",
		}[h.Code]
		if !strings.Contains(h.LastError.V, want) || want == "" && (h.Failures != 0 || h.Pending != 0) ||
			h.DisabledAt.Valid != (h.Code == codes["/410"]) {
			t.Errorf("%s: %+v, want %q", h.URL, h, want)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for message, n := range x.messages {
		if n != 1 && !slices.Contains([]string{"/500", "/302", "/307", "/private", "/hang"},
			strings.Fields(message)[0]) {
			t.Errorf("%s was sent %d times", message, n)
		}
	}
	if x.requests["/410"] != 1 || x.requests["/lost"] != 0 || x.requests["/target"] != 2 {
		t.Errorf("%v", x.requests)
	}
	if n := first.Count(webhooks.Delivered) + second.Count(webhooks.Delivered); n != 104 {
		t.Errorf("%d messages were delivered", n)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	h := x.last.Header
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", h.Get("Webhook-Id"), h.Get("Webhook-Timestamp"), x.body)
	if got := h.Get("Webhook-Signature"); got != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) ||
		!strings.Contains(x.body, `"name":"Slower"`) {
		t.Errorf("signature %s of %s", got, x.body)
	}
}

// TestPrivateAddresses checks that nothing is sent to a private address unless it is allowed, and nothing to a removed
// webhook.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	editor, page := newPage(t)
	x := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	code, _ := add(t, editor, page, x.URL+"/ok")
	removed, _ := add(t, editor, page, x.URL+"/removed")
	open(t, editor, page, "Slow")
	if _, err := editor.RemoveWebhook(t.Context(), author, removed, status.VersionInput{}); err != nil {
		t.Fatal(err)
	}
	s, stop := start(t, editor, nil)
	wait(t, "failure", 10*time.Second, func() bool { return s.Count(webhooks.Failed) == 1 })
	stop()
	w, err := editor.DB().Webhook(t.Context(), code)
	if err != nil || w.LastError.V != "dial tcp "+strings.TrimPrefix(x.URL,
		"http://")+": 127.0.0.1 is not a public address; permit its network with --webhook-networks" {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := editor.EnableWebhook(t.Context(), author, code, status.VersionInput{}); err != nil {
		t.Fatal(err)
	}
	s, _ = start(t, editor, loopback)
	wait(t, "delivery", 10*time.Second, func() bool { return s.Count(webhooks.Delivered) == 1 })
	if x.count("/ok") != 1 || x.count("/removed") != 0 {
		t.Errorf("%v", x.requests)
	}
}
