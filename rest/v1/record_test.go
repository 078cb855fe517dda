package v1_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"heliograph/app/compare"
	"heliograph/app/testing/testenv"
	"heliograph/rest"
	generator "heliograph/rest/requests"
	v1 "heliograph/rest/v1"
	"heliograph/storage/demo/demodb"
	"heliograph/storage/pgtest"
)

// recordFile has a line per generated request. The lines before them are the shapes of the responses.
const recordFile = "testdata/record.jsonl"

// maxFullBody is the maximum size in bytes of a successful response that the record contains in full. Of larger ones
// it has hashes. Errors are complete.
const maxFullBody = 200

// recordLine is a line of the record: a shape, or a response.
type recordLine struct {
	// Headers and Members are the shape: the values of compare.Headers, and the path and types of each member.
	Headers []string    `json:"headers,omitempty"`
	Members [][2]string `json:"members,omitempty"`

	Path   string `json:"path,omitempty"`
	Status int    `json:"status,omitempty"`
	// Shape is the number of the shape, from 0.
	Shape int `json:"shape,omitempty"`
	// Values has the hash of each member, preceded by the number of occurrences if it differs from that of the member
	// before.
	Values string `json:"values,omitempty"`
	Body   string `json:"body,omitempty"`
}

// recorded is the digest of the response to a path.
type recorded struct {
	path   string
	digest *compare.Digest
	body   string // if the record contains it
}

// TestRecord compares the responses to generated requests with the record. Rewrite it with: make record. `make
// test-keys` compares those of the statements for distributed tables.
func TestRecord(t *testing.T) {
	t.Parallel()
	compareRecord(t, record(t, testenv.Shared(t).Public()))
}

// TestRecordCitus is [TestRecord] for a database with distributed tables. It loads the demo network if the database is
// empty.
func TestRecordCitus(t *testing.T) {
	url := os.Getenv("HELIOGRAPH_TEST_CITUS_URL")
	if url == "" {
		fmt.Println("SKIPPED: HELIOGRAPH_TEST_CITUS_URL is not set")
		return
	}
	conn := pgtest.Connect(t, url)
	if err := demodb.Load(t.Context(), conn, testenv.Now(), nil); err != nil && !errors.Is(err, demodb.ErrNotEmpty) {
		t.Fatal(err)
	}
	compareRecord(t, record(t, testenv.Over(t, url).Public()))
}

// compareRecord fails if responses differ from the record. With -update it writes the record.
func compareRecord(t *testing.T, got []recorded) {
	t.Helper()
	text, err := os.ReadFile(recordFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var report compare.Report
	old := map[string]*compare.Digest{}
	for _, r := range readRecord(t, text) {
		old[r.path] = r.digest
	}
	api, err := v1.NewOffline(&rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(path string, differences ...compare.Difference) {
		endpoint := api.Pattern(httptest.NewRequest(http.MethodGet, path, http.NoBody))
		for i := range differences {
			if differences[i].Where == "" && differences[i].Kind != compare.ValueChanged {
				differences[i].Where = endpoint
			}
		}
		report.Add(endpoint, path, differences)
	}
	for _, r := range got {
		if before, ok := old[r.path]; ok {
			add(r.path, compare.Differences("", before, r.digest)...)
		} else {
			add(r.path, compare.Difference{Cause: compare.Cause{Kind: "new request"}})
		}
		delete(old, r.path)
	}
	for path := range old {
		add(path, compare.Difference{Cause: compare.Cause{Kind: "removed request"}})
	}
	var changes strings.Builder
	if _, err := report.WriteTo(&changes); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(recordFile, writeRecord(t, got), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d requests, %d causes of changes\n%s", len(got), len(report.Causes()), changes.String())
	} else if changes.Len() > 0 {
		t.Errorf("the responses differ from %s; if that is intended, run make record\n%s", recordFile,
			changes.String())
	}
}

// record generates requests and returns the responses of a handler.
func record(t *testing.T, handler http.Handler) []recorded {
	t.Helper()
	api, err := v1.NewOffline(&rest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := generator.Generate(t.Context(), api, func(_ context.Context, path string) (int, []byte, error) {
		got := respond(t, handler, path)
		return got.Status, got.Body, nil
	}, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	pages := make([][]recorded, len(list))
	queue := make(chan int)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range queue {
				path := list[i].Path
				for page := 0; page < list[i].Pages && path != ""; page++ {
					got := respond(t, handler, path)
					r := recorded{path: path, digest: compare.NewDigest(got)}
					if got.Status >= http.StatusBadRequest || len(got.Body) <= maxFullBody {
						r.body = string(got.Body)
					}
					pages[i] = append(pages[i], r)
					path = r.digest.Next()
				}
			}
		})
	}
	for i := range list {
		queue <- i
	}
	close(queue)
	workers.Wait()
	all := slices.Concat(pages...)
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(r recorded) bool {
		known := seen[r.path]
		seen[r.path] = true
		return known
	})
}

// respond returns the response of a handler. Traces are always compressed.
func respond(t *testing.T, handler http.Handler, path string) *compare.Response {
	t.Helper()
	r, w := httptest.NewRequest(http.MethodGet, path, http.NoBody), httptest.NewRecorder()
	if strings.Contains(path, "/opcodes") {
		r.Header.Set("Accept-Encoding", "gzip")
	}
	handler.ServeHTTP(w, r)
	body := w.Body.Bytes()
	if w.Header().Get("Content-Encoding") == "gzip" {
		zip, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Error(err)
			return &compare.Response{}
		}
		if body, err = io.ReadAll(zip); err != nil {
			t.Error(err)
		}
	}
	return &compare.Response{Status: w.Code, Header: w.Header(), Body: body}
}

// writeRecord encodes responses.
func writeRecord(t *testing.T, list []recorded) []byte {
	t.Helper()
	var shapes, lines []recordLine
	numbers := map[string]int{}
	for _, r := range list {
		shape := recordLine{Headers: r.digest.Headers}
		line := recordLine{Path: r.path, Status: r.digest.Status, Body: r.body}
		if r.body == "" {
			before := -1
			var values []string
			for _, m := range r.digest.Members {
				shape.Members = append(shape.Members, [2]string{m.Path, m.Types})
				value := m.Hash
				if m.Count != before {
					value = strconv.Itoa(m.Count) + ":" + value
				}
				values, before = append(values, value), m.Count
			}
			line.Values = strings.Join(values, " ")
		}
		key := string(encodeLine(t, shape))
		number, ok := numbers[key]
		if !ok {
			number = len(shapes)
			numbers[key], shapes = number, append(shapes, shape)
		}
		line.Shape = number
		lines = append(lines, line)
	}
	var b bytes.Buffer
	for _, line := range append(shapes, lines...) {
		b.Write(encodeLine(t, line))
	}
	return b.Bytes()
}

func encodeLine(t *testing.T, line recordLine) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readRecord decodes responses.
func readRecord(t *testing.T, text []byte) []recorded {
	t.Helper()
	var shapes []recordLine
	var out []recorded
	d := json.NewDecoder(bytes.NewReader(text))
	for d.More() {
		var line recordLine
		if err := d.Decode(&line); err != nil {
			t.Fatalf("%s: %v", recordFile, err)
		}
		if line.Path == "" {
			shapes = append(shapes, line)
			continue
		}
		shape := shapes[line.Shape]
		digest := &compare.Digest{Status: line.Status, Headers: shape.Headers}
		if line.Body != "" {
			digest = compare.NewDigest(&compare.Response{Status: line.Status, Body: []byte(line.Body)})
			digest.Headers = shape.Headers
		}
		count := 0
		values := strings.Fields(line.Values)
		for i, m := range shape.Members {
			number, hash, counted := strings.Cut(values[i], ":")
			if !counted {
				hash = number
			} else if count, _ = strconv.Atoi(number); count == 0 {
				t.Fatalf("%s: %s", line.Path, values[i])
			}
			digest.Members = append(digest.Members, compare.Member{Path: m[0], Types: m[1], Count: count, Hash: hash})
		}
		out = append(out, recorded{line.Path, digest, line.Body})
	}
	return out
}

// TestRecordReportsChanges checks that the record shows each kind of change.
func TestRecordReportsChanges(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/accounts"
	long := strings.Repeat("x", maxFullBody)
	digest := func(status int, body string) *compare.Digest {
		return compare.NewDigest(&compare.Response{
			Status: status, Header: http.Header{"Cache-Control": {"public"}},
			Body: []byte(body),
		})
	}
	before := digest(200, `{"accounts":[{"a":1,"b":"`+long+`"},{"a":2,"b":null}],"links":{"next":null}}`)
	stored := readRecord(t, writeRecord(t, []recorded{{path: path, digest: before}}))[0].digest
	for body, want := range map[string]compare.Cause{
		`{"accounts":[{"a":1,"b":"` + long + `"},{"a":2,"b":null}],"links":{"next":null}}`: {},
		`{"accounts":[{"a":1,"b":"` +
			long + `"},{"a":3,"b":null}],"links":{"next":null}}`: {Kind: compare.ValueChanged, Where: "accounts[].a"},
		`{"accounts":[{"a":1,"b":"` +
			long + `"},{"a":"2","b":null}],"links":{"next":null}}`: {
			Kind: compare.TypeChanged, Where: "accounts[].a",
			Before: "number", After: "number|string",
		},
		`{"accounts":[{"a":1,"b":"` +
			long + `"},{"a":2}],"links":{"next":null}}`: {Kind: compare.MemberMissing, Where: "accounts[].b"},
		`{"accounts":[{"a":1,"b":"` +
			long + `"}],"links":{"next":null}}`: {Kind: compare.ItemsChanged, Where: "accounts"},
		`{"accounts":[{"a":1,"b":"` +
			long + `"},{"a":2,"b":null}],"links":{"next":"/x"}}`: {Kind: compare.LinkChanged, Where: "links.next"},
	} {
		var causes []compare.Cause
		for _, d := range compare.Differences(path, stored, digest(200, body)) {
			causes = append(causes, d.Cause)
		}
		if want != (compare.Cause{}) != (len(causes) == 1) || len(causes) == 1 && causes[0] != want {
			t.Errorf("%s: %+v, want %+v", body, causes, want)
		}
	}
}

// TestVariables checks that REST sets variables as coercion of those of clients returns them, since the executor does
// not coerce them.
func TestVariables(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(recordFile)
	if err != nil {
		t.Fatal(err)
	}
	g, documents := testenv.Shared(t), map[string]*ast.QueryDocument{}
	checked := 0
	for _, r := range readRecord(t, text) {
		x, err := g.Explain(t.Context(), r.path, nil)
		if err != nil {
			continue // the request is invalid
		}
		doc := documents[x.Query]
		if doc == nil {
			if doc, err = parser.ParseQuery(&ast.Source{Input: x.Query}); err != nil {
				t.Fatal(err)
			}
			documents[x.Query] = doc
		}
		op := doc.Operations.ForName(x.OperationName)
		for _, v := range op.VariableDefinitions {
			v.Definition = g.Graph().Schema().Types[v.Type.Name()]
		}
		coerced, err := validator.VariableValues(g.Graph().Schema(), op, x.Variables)
		if err != nil {
			t.Errorf("%s: %v", r.path, err)
		}
		for name, want := range coerced {
			if got, given := x.Variables[name]; given && !reflect.DeepEqual(got, want) {
				t.Errorf("%s: $%s is %#v, want %#v", r.path, name, got, want)
			}
		}
		checked++
	}
	if checked < 1000 {
		t.Errorf("only %d requests were checked", checked)
	}
}

// TestRecordWithoutDatabase sends the recorded requests, and some whose validation reads the database, while the
// database is unavailable: none of them is an internal error, and each can be explained or says why not.
func TestRecordWithoutDatabase(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(recordFile)
	if err != nil {
		t.Fatal(err)
	}
	const address = "0xac384c53f03855fa1b3616052f8ba32c6c2a2fec"
	paths := []string{
		"/api/v1/transactions?timestamp=lt:1777000000",
		"/api/v1/contracts/" + address + "/results", "/api/v1/contracts/results?from=" + address + "&block.number=7",
		"/api/v1/contracts/" + address + "/state?timestamp=ne:1", "/api/v1/accounts/" + address,
		"/api/v1/accounts/CIQOOJ3PXBVUTA7WZFAKWNQI4B2SHBVT?timestamp=gt:2&timestamp=lt:1",
	}
	asked := len(paths)
	for _, r := range readRecord(t, text) {
		paths = append(paths, r.path)
	}
	g := testenv.Demo(t, func(o *testenv.Options) { o.REST.BindTimestampRange = true })
	g.DB.Close()
	unavailable := 0
	for i, path := range paths {
		switch got := g.Get(t, path); got.Status {
		case http.StatusInternalServerError:
			t.Errorf("%s: status %d: %s", path, got.Status, got.Body)
		case http.StatusServiceUnavailable:
			unavailable++
		}
		_, err := g.Explain(t.Context(), path, nil)
		if problem := (*rest.Problem)(nil); err != nil && !errors.As(err, &problem) {
			t.Errorf("%s cannot be explained: %v", path, err)
		}
		if i == asked && unavailable == 0 {
			t.Error("no validation reads the database")
		}
	}
	if unavailable < 500 {
		t.Errorf("only %d of %d requests read the database", unavailable, len(paths))
	}
}
