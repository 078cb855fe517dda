package statuspages_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"heliograph/internal/domain/status"
	"heliograph/storage/embedded"
	"heliograph/storage/migrations"
	"heliograph/storage/statuspages"
)

// startServer starts a PostgreSQL server on a data folder that survives it.
func startServer(t *testing.T, dir string) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir, BinDir: os.Getenv("HELIOGRAPH_PG_BINDIR")})
	return must(t, s, err)
}

// kill ends a server with SIGKILL.
func kill(t *testing.T, s *embedded.Server) {
	t.Helper()
	_, pid := s.Process()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
}

// TestKilledServer kills PostgreSQL repeatedly during writes. All acknowledged writes must survive, and no write may
// be partial.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	//nolint:usetesting // other users cannot pass through the folders of t.TempDir, and PostgreSQL does not run as root
	dir, err := os.MkdirTemp(os.TempDir(), "status-crash-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	must(t, dir, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server := startServer(t, dir)
	url := server.URL(embedded.Name)
	if err := migrations.Status(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	var (
		mu           sync.Mutex
		acknowledged = map[string]int64{} // versions by notice
		page, api    string
	)
	db := openStatus(t, url)
	ed := statuspages.NewEditor(db, time.Now)
	page = must2(t)(ed.InitPage(t.Context(), editor,
		status.Page{Name: "P", URL: "https://p.example"}, "API"))
	if err := db.Pool().QueryRow(t.Context(), `select id from status.component`).Scan(&api); err != nil {
		t.Fatal(err)
	}
	const rounds = 3
	failures := 0
	for round := range rounds {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var writers sync.WaitGroup
		for w := range 3 {
			writers.Go(func() {
				for i := 0; ; i++ {
					states := set(api, []string{
						"operational", "degraded_performance", "partial_outage",
						"major_outage",
					}[i%4])
					code, err := ed.OpenIncident(ctx, editor, page,
						status.NewIncident{Name: fmt.Sprintf("%d.%d.%d", round, w, i), Body: "x", Affected: states})
					version := int64(1)
					for step := int64(2); err == nil && step <= 3; step++ {
						mu.Lock()
						acknowledged[code] = version
						mu.Unlock()
						state := status.Identified
						if step == 3 {
							state = status.Resolved
						}
						if _, err = ed.UpdateIncident(ctx, editor, code,
							status.NewUpdate{State: state, Body: "x", ExpectedVersion: version}); err == nil {
							version = step
						}
					}
					mu.Lock()
					if err == nil {
						acknowledged[code] = version
					} else {
						failures++
					}
					mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(150+130*round) * time.Millisecond)
		kill(t, server)
		writers.Wait()
		cancel()
		_ = server.Stop(t.Context()) // returns an error, because the server was killed
		server = startServer(t, dir)
	}
	defer func() { _ = server.Stop(context.Background()) }()
	db = openStatus(t, server.URL(embedded.Name))
	n := &editorTest{t: t, db: db}
	if len(acknowledged) < 3 || failures != 3*rounds {
		t.Errorf("%d incidents were acknowledged, %d writers failed", len(acknowledged), failures)
	}
	for code, version := range acknowledged {
		if got := one[int64](t, n, `select coalesce((select version from status.incident where id = $1), 0)`,
			code); got != version && got != version+1 {
			// one more write can have been committed without acknowledgement
			t.Errorf("%s is at version %d, acknowledged was %d", code, got, version)
		}
	}
	for what, sql := range map[string]string{
		"notices whose updates do not belong to their version": `select count(*)::int from status.incident i where version <> (select count(*) from status.incident_update u where u.incident_id = i.id)
  or state <> (select u.state from status.incident_update u where u.incident_id = i.id order by created_at desc, id desc limit 1)`,
		"updates without their component": `select count(*)::int from status.incident_update u
where not exists (select from status.update_component c where c.update_id = u.id)`,
		"holds of what is over": `select count(*)::int from status.incident_component c
join status.incident i on i.id = c.incident_id where (c.held_status is not null) <> (i.resolved_at is null)`,
		"writes without their audit": `select abs((select count(*) from status.audit
where action <> 'page.init') - (select count(*) from status.incident_update))::int`,
		"revisions that are no write's": `select abs((select revision from status.page) - (select count(*)
from status.audit))::int`,
		"changes that do not follow another": `select count(*)::int
from (select old_status, lag(new_status) over (order by changed_at) as before from status.component_change) c where before <> old_status`,
	} {
		if got := one[int](t, n, sql); got != 0 {
			t.Errorf("%d %s", got, what)
		}
	}
	t.Logf("%d incidents acknowledged over %d crashes", len(acknowledged), rounds)
}
