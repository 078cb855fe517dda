package v2_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"heliograph/app/testing/testenv"
	"heliograph/internal/domain/status"
	"heliograph/storage/pgtest"
	"heliograph/storage/statuspages"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var testAuthor = statuspages.Author{Name: "test"}

// example returns the documents of the golden page by path.
func example(tb testing.TB) map[string]json.RawMessage {
	tb.Helper()
	text, err := os.ReadFile("testdata/ledgerlight.json")
	if err != nil {
		tb.Fatal(err)
	}
	var documents map[string]json.RawMessage
	if err := json.Unmarshal(text, &documents); err != nil {
		tb.Fatal(err)
	}
	if len(documents) != len(status.Documents()) {
		tb.Fatalf("%d documents", len(documents))
	}
	return documents
}

// lastWrite returns the time of the last write to the example page.
func lastWrite() time.Time { return time.Date(2026, 3, 12, 9, 42, 10, 118_000_000, time.UTC) }

// parse parses documents by path.
func parse(tb testing.TB, documents map[string]json.RawMessage) *status.Source {
	tb.Helper()
	byName := map[string][]byte{}
	for _, name := range status.Documents() {
		if text, ok := documents["/api/v2/"+name]; ok {
			byName[name] = text
		}
	}
	c, err := status.ReadDocuments(byName)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// importPage imports a page.
func importPage(
	tb testing.TB, db *statuspages.DB, c *status.Source, o status.ImportOptions, at time.Time,
) *statuspages.ImportResult {
	tb.Helper()
	result, err := db.ImportPage(context.Background(), statuspages.Author{}, c, o, at)
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

// importExample imports the example as a mirror in a vocabulary.
func importExample(tb testing.TB, db *statuspages.DB, v status.Vocabulary) {
	tb.Helper()
	importPage(tb, db, parse(tb, example(tb)), status.ImportOptions{
		Mode: status.Mirror, Slug: "ledgerlight",
		Vocabulary: v,
	}, lastWrite())
}

// withCache turns the cache on.
func withCache() testenv.Option { return func(o *testenv.Options) { o.REST.Cache = true } }

// waitForWrite waits until ok returns true, for at most five seconds: half of the interval of refreshes without a
// notification. The wait is usually some milliseconds and is logged.
func waitForWrite(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	start := time.Now()
	waitFor(tb, 9*time.Second, what, ok) // sooner than without a notification
	tb.Logf("%s after %s", what, time.Since(start).Round(time.Millisecond))
}

// waitFor waits until ok returns true, for at most the given time.
func waitFor(tb testing.TB, most time.Duration, what string, ok func() bool) {
	tb.Helper()
	for end := time.Now().Add(most); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("after %s still not: %s", most, what)
		}
	}
}

// mirrorOptions returns the import options of a mirror.
func mirrorOptions(slug string) status.ImportOptions {
	return status.ImportOptions{Mode: status.Mirror, Slug: slug, Vocabulary: status.Statuspage}
}
