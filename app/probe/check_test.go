package probe_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"heliograph/app/probe"
	"heliograph/internal/domain/ledger"
	"heliograph/internal/domain/status"
	"heliograph/storage"
)

// TestCheck runs probes of all kinds, also against targets that misbehave.
func TestCheck(t *testing.T) {
	t.Parallel()
	redirected := false
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"up":[{"is":true}],"key":%q}`, r.Header.Get("Authorization"))
	})
	mux.HandleFunc("/redirect", func(w http.ResponseWriter,
		r *http.Request,
	) {
		http.Redirect(w, r, "/target", http.StatusFound)
	})
	mux.HandleFunc("/target", func(http.ResponseWriter, *http.Request) { redirected = true })
	mux.HandleFunc("/slow", func(http.ResponseWriter, *http.Request) { time.Sleep(30 * time.Millisecond) })
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, _ = w.Write(make([]byte, 1<<20))
		}
	})
	mux.HandleFunc("/graphql", func(w http.ResponseWriter,
		_ *http.Request,
	) {
		fmt.Fprint(w, `{"data":{"network":{"supply":null}}}`)
	})
	mux.HandleFunc("/errors", func(w http.ResponseWriter,
		_ *http.Request,
	) {
		fmt.Fprint(w, `{"errors":[{"message":"no"}]}`)
	})
	server, secure := httptest.NewServer(mux), httptest.NewUnstartedServer(mux)
	// discards the handshake errors about the untrusted certificate
	secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	secure.StartTLS()
	defer server.Close()
	defer secure.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	now := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	health := &storage.LedgerHealth{
		Block: 7, At: ledger.Timestamp(now.Add(-90 * time.Second).UnixNano()), Transactions: 1000,
		Nodes: map[int64]*storage.NodeHealth{
			0: {ID: 0, Transactions: 900, Stake: ledger.Of(int64(10)), MinStake: ledger.Of(int64(5))},
			1: {ID: 1, Transactions: 100, Stake: ledger.Of(int64(4)), MinStake: ledger.Of(int64(5))},
			2: {ID: 2, Stake: ledger.Of(int64(10))}, 3: {ID: 3, Deleted: true, Transactions: 1},
		},
	}
	healthErr := error(nil)
	c := probe.NewChecker(func() time.Time { return now },
		func(context.Context) (*storage.LedgerHealth, error) { return health, healthErr })
	check := func(kind status.ProbeKind, s status.ProbeSpec, level status.Level, detail string) {
		t.Helper()
		p := &status.Probe{Kind: kind, Spec: s, NodeID: -1}
		if kind == status.NodeProbe {
			p.NodeID = s.Node
		}
		if kind == status.HeartbeatProbe && s.BadMS != 1 {
			p.BeatAt = now.Add(-time.Minute)
		}
		if r := c.Check(t.Context(), p); r.Level != level || !strings.Contains(r.Detail, detail) || !r.At.Equal(now) {
			t.Errorf("%s %+v: %+v, want %q and %s", kind, s, r, level, detail)
		}
	}
	at := func(path string) status.ProbeSpec { return status.ProbeSpec{URL: server.URL + path, TimeoutMS: 2000} }
	with := func(s status.ProbeSpec, change func(s *status.ProbeSpec)) status.ProbeSpec {
		change(&s)
		return s
	}
	check(status.HTTPProbe, at("/ok"), status.Good, "200 OK")
	check(status.HTTPProbe, with(at("/ok"), func(s *status.ProbeSpec) {
		s.Path, s.Body = "up.0.is", regexp.QuoteMeta(strconv.Quote(os.Getenv("PATH")))
		s.Headers = map[string]string{"Authorization": "env:PATH"}
	}), status.Good, "")
	check(status.HTTPProbe, with(at("/ok"), func(s *status.ProbeSpec) { s.Path = "up.1.is" }), status.Bad,
		"no value at up.1.is")
	check(status.HTTPProbe, with(at("/ok"), func(s *status.ProbeSpec) { s.Body = "down" }), status.Bad,
		"does not match")
	check(status.HTTPProbe, with(at("/ok"), func(s *status.ProbeSpec) { s.Status = 204 }), status.Bad, "200 OK")
	check(status.HTTPProbe, at("/missing"), status.Bad, "404")
	check(status.HTTPProbe, at("/redirect"), status.Bad, "302")
	check(status.HTTPProbe, with(at("/slow"), func(s *status.ProbeSpec) { s.SlowMS = 20 }), status.Slow, "200")
	check(status.HTTPProbe, with(at("/hang"), func(s *status.ProbeSpec) { s.TimeoutMS = 50 }), status.Bad,
		"no response within 50ms")
	check(status.HTTPProbe, at("/endless"), status.Good, "")
	check(status.HTTPProbe, status.ProbeSpec{URL: secure.URL + "/ok"}, status.Bad, "certificate")
	check(status.HTTPProbe, status.ProbeSpec{URL: "http://" + silent.Addr().String(), TimeoutMS: 50}, status.Bad,
		"no response")
	check(status.GraphQLProbe, with(at("/graphql"), func(s *status.ProbeSpec) { s.Query = "{ x }" }), status.Good, "")
	check(status.GraphQLProbe, with(at("/graphql"),
		func(s *status.ProbeSpec) { s.Query, s.Path = "{ x }", "network.supply" }), status.Bad, "no value at")
	check(status.GraphQLProbe, with(at("/errors"), func(s *status.ProbeSpec) { s.Query = "{ x }" }), status.Bad,
		"has an error: no")
	check(status.TCPProbe, status.ProbeSpec{Address: address}, status.Good, "connected")
	check(status.TCPProbe, status.ProbeSpec{Address: "127.0.0.1:1"}, status.Bad, "refused")
	check(status.LagProbe, status.ProbeSpec{SlowMS: 60_000, BadMS: 100_000}, status.Slow, "block 7 is 1m30s old")
	check(status.LagProbe, status.ProbeSpec{BadMS: 90_000}, status.Bad, "")
	check(status.NodeProbe, status.ProbeSpec{Node: 0}, status.Good, "900 of the newest 1000")
	check(status.NodeProbe, status.ProbeSpec{Node: 1}, status.Slow, "too little stake")
	check(status.NodeProbe, status.ProbeSpec{Node: 2}, status.Bad, "none of the newest 1000")
	check(status.NodeProbe, status.ProbeSpec{Node: 3}, status.Bad, "deleted")
	now = now.Add(10 * time.Minute)
	check(status.NodeProbe, status.ProbeSpec{Node: 0}, status.Bad,
		"the ledger stands still: the newest block is 11m30s old")
	now = now.Add(-10 * time.Minute)
	check(status.NodeProbe, status.ProbeSpec{Node: 4}, status.Bad, "not in the address book")
	check(status.HeartbeatProbe, status.ProbeSpec{BadMS: 120_000}, status.Good, "1m0s ago")
	check(status.HeartbeatProbe, status.ProbeSpec{BadMS: 60_000}, status.Bad, "")
	check(status.HeartbeatProbe, status.ProbeSpec{BadMS: 1}, status.Unknown, "yet")
	health.Transactions = 100
	check(status.NodeProbe, status.ProbeSpec{Node: 2}, status.Unknown, "too few")
	health.At = ledger.Timestamp(now.Add(time.Hour).UnixNano())
	check(status.LagProbe, status.ProbeSpec{BadMS: 90_000}, status.Good, "") // the clock is behind
	health.Missing = 2
	check(status.LagProbe, status.ProbeSpec{BadMS: 90_000}, status.Bad, "2 blocks are missing")
	healthErr = errors.New("unavailable")
	check(status.LagProbe, status.ProbeSpec{BadMS: 90_000}, status.Bad, "cannot be read")
	check(status.NodeProbe, status.ProbeSpec{Node: 0}, status.Unknown, "cannot be read")
	if redirected {
		t.Error("a redirect was followed")
	}
}

// TestHangingTarget checks that a hanging target does not delay the others.
func TestHangingTarget(t *testing.T) {
	t.Parallel()
	l := newLab(t, auto())
	l.watch(status.PublishPublic, "A")
	hanging := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hanging }))
	defer stuck.Close()
	defer close(hanging)
	if _, err := l.editor.AddProbe(t.Context(), editor, status.Probe{
		Component: l.parts["B"], Kind: status.HTTPProbe, Spec: status.ProbeSpec{URL: stuck.URL}, Every: time.Minute,
		FailAfter: 1, PassAfter: 1,
		Sets: status.MajorOutage, Publish: status.PublishPublic,
	}); err != nil {
		t.Fatal(err)
	}
	l.setBroken(true, "A")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.watcher.Run(ctx)
	}()
	for end := time.Now().Add(8 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if strings.Contains(l.summary(), "A:p") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a hanging target delays other probes")
		}
		l.wait(30 * time.Second)
	}
	stop()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Error("a hanging target delays the shutdown")
	}
	if got := l.summary(); strings.Contains(got, "B:m") {
		t.Errorf("a check that was interrupted by the shutdown was applied: %s", got)
	}
}
