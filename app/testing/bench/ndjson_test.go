//go:build linux && !race

// The race detector multiplies the memory of a process.

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heliograph/app/testing/testenv"
)

// exportedRows is the number of rows that TestNDJSONMemory exports, the limit by default.
const exportedRows = 100_000

var manyMessages = testenv.Rows("hundred_thousand_messages", func(b *pgx.Batch) {
	b.Queue(`insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, memo) values
(700, 700, 0, 0, 'TOPIC', '[5,)', 5, 'a topic'), (302, 302, 0, 0, 'ACCOUNT', '[5,)', 5, 'an account')`)
	b.Queue(`insert into topic (id, created_timestamp, timestamp_range) values (700, 5, '[5,)')`)
	b.Queue(`insert into custom_fee (entity_id, timestamp_range) values (700, '[5,)')`)
	b.Queue(`insert into topic_message (consensus_timestamp, message, running_hash, sequence_number,
  running_hash_version, payer_account_id, topic_id)
select 1000000 * (1779000000000 + i), convert_to(repeat('message ', 12) || i, 'UTF8'),
  decode(repeat('ab', 48), 'hex'), i, 2, 302, 700 from generate_series(1::bigint, $1) i`, exportedRows)
	b.Queue(`analyze`)
})

// TestNDJSONMemory exports 100,000 messages with their payers to jq, and checks that the gateway needs at most 20 MB
// more memory than before, at any time.
func TestNDJSONMemory(t *testing.T) {
	g := testenv.Over(t, manyMessages.Fresh(t))
	const document = `query($first: Int) { topic(id: "700") { messages(first: $first) {
		nodes { sequenceNumber consensusTimestamp text runningHash payer { entityId memo } } } } }`
	export(t, g, document, io.Discard) // prepares the statements
	// What the tests before have left would let the garbage grow to the same size.
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	debug.FreeOSMemory()
	before := resident(t)
	in, result := sumOfRows(t)
	peak := &peakWriter{WriteCloser: in, t: t}
	size := export(t, g, document, peak)
	_ = in.Close()
	got := <-result
	want := fmt.Sprintf("[%d,%d]", exportedRows, exportedRows*(exportedRows+1)/2)
	if got != want {
		t.Errorf("jq has counted and added %s, want %s", got, want)
	}
	t.Logf("%d rows, %.1f MB: %.1f MB more memory than %.1f MB", exportedRows, float64(size)/1e6,
		peak.most-before, before)
	if peak.most-before > 20 {
		t.Errorf("the export takes %.1f MB more memory", peak.most-before)
	}
}

// sumOfRows returns a pipe to jq, which sends the number of rows and the sum of their numbers once the pipe is closed.
// Where jq is not installed, they are decoded here.
func sumOfRows(t *testing.T) (in io.WriteCloser, result chan string) {
	t.Helper()
	result = make(chan string, 1)
	if _, err := exec.LookPath("jq"); err != nil {
		out, in := io.Pipe()
		go func() {
			rows, sum := 0, int64(0)
			for d := json.NewDecoder(out); ; rows++ {
				var row struct {
					SequenceNumber int64 `json:",string"`
				}
				if err := d.Decode(&row); err != nil {
					break
				}
				sum += row.SequenceNumber
			}
			_, _ = io.Copy(io.Discard, out)
			result <- fmt.Sprintf("[%d,%d]", rows, sum)
		}()
		return in, result
	}
	jq := exec.CommandContext(t.Context(), "jq", "-c", "-n",
		`reduce inputs as $row ([0, 0]; [.[0] + 1, .[1] + ($row.sequenceNumber | tonumber)])`)
	var sum bytes.Buffer
	jq.Stdout, jq.Stderr = &sum, os.Stderr
	in, err := jq.StdinPipe()
	if err == nil {
		err = jq.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		err := jq.Wait()
		result <- strings.TrimSpace(sum.String())
		if err != nil {
			t.Errorf("jq: %v", err)
		}
	}()
	return in, result
}

// export sends the NDJSON of a document to w, and returns its size.
func export(t *testing.T, g *testenv.Gateway, document string, w io.Writer) int64 {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": map[string]any{"first": 100}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/graphql", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/x-ndjson")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(w, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %v", resp.StatusCode, err)
	}
	return n
}

// peakWriter keeps the most memory that the process has used at the time of a write, in megabytes.
type peakWriter struct {
	io.WriteCloser
	t    *testing.T
	most float64
}

func (w *peakWriter) Write(part []byte) (int, error) {
	w.most = max(w.most, resident(w.t))
	return w.WriteCloser.Write(part)
}

// resident returns the memory that the process uses, in megabytes.
func resident(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return float64(kib) * 1024 / 1e6
}
