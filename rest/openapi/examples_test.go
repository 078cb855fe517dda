package openapi_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/rest"
	"heliograph/rest/openapi"
)

var update = flag.Bool("update", false, "record the examples of responses, as make record does")

// TestExamples compares the examples of responses with those of the demo network. Each operation must have one, and a
// summary of its own.
func TestExamples(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var file bytes.Buffer
	summaries := map[string]string{}
	file.WriteString("{\n")
	api := offlineAPI(t)
	bodies := map[string]*rest.Body{}
	for _, e := range api.Endpoints {
		if e.Body != nil {
			bodies[e.Path] = e.Body
		}
	}
	for _, path := range describe(t, api).Paths {
		for _, m := range path.Value {
			op := m.Value.(object)
			id, summary := get[string](op, "operationId"), get[string](op, "summary")
			if other, twice := summaries[summary]; twice {
				t.Errorf("%s and %s have the summary %q", other, id, summary)
			}
			summaries[summary] = id
			var shortened bytes.Buffer
			e := json.NewEncoder(&shortened)
			e.SetEscapeHTML(false)
			if err := e.Encode(shorten(t,
				json.NewDecoder(strings.NewReader(exampleOf(t, g, path.Name, op, bodies[path.Name]))))); err != nil {
				t.Fatal(err)
			}
			if file.Len() > 2 {
				file.WriteString(",\n")
			}
			file.WriteString(`"` + id + `":` + strings.TrimSpace(shortened.String()))
		}
	}
	file.WriteString("\n}\n")
	if *update {
		if err := os.WriteFile("examples.json", file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile("examples.json"); err != nil || !bytes.Equal(have, file.Bytes()) {
		t.Errorf("examples.json is not up to date: run make record; error of the file: %v", err)
	}
}

// exampleOf returns the response to the example request of an operation.
func exampleOf(t *testing.T, g *testenv.Gateway, path string, op object, request *rest.Body) string {
	t.Helper()
	query := url.Values{}
	member := func(list, pattern string) string {
		found := regexp.MustCompile(`"` + pattern + `":"([^"]+)"`).FindStringSubmatch(g.Get(t, "/api/v1"+list).Body)
		if found == nil {
			t.Fatalf("%s has no %s", list, pattern)
		}
		return found[1]
	}
	const results = "/contracts/results?limit=1"
	switch { // the demo network has other values for these examples at each start, or nothing
	case path == "/topics/messages/{consensusTimestamp}":
		path = "/topics/messages/" + member("/topics/4001/messages?limit=1", "consensus_timestamp")
	case path == "/contracts/{id}/results/{timestamp}":
		path = "/contracts/" + member(results, "contract_id") + "/results/" + member(results, "timestamp")
	case strings.HasPrefix(path, "/contracts/results/{"):
		path = strings.Replace(path, "{transactionIdOrHash}", member(results, "hash"), 1)
	case strings.HasPrefix(path, "/transactions/{"):
		path = "/transactions/" + member("/transactions?transactiontype=cryptotransfer&limit=1", "transaction_id")
	case strings.HasSuffix(path, "/airdrops/pending"):
		path = "/accounts/" + member("/accounts/1001/airdrops/outstanding", "receiver_id") + "/airdrops/pending"
	case strings.Contains(path, "/nfts"):
		path = strings.Replace(strings.Replace(path, "{tokenId}", "0.0.2007", 1), "{serialNumber}", "2", 1)
	}
	for _, p := range get[[]object](op, "parameters") {
		switch name := get[string](p, "name"); {
		case get[string](p, "in") == "path":
			path = strings.Replace(path, "{"+name+"}", get[string](p, "example"), 1)
		case name == "limit":
			query.Set("limit", "2")
		}
	}
	method, body, media := http.MethodGet, "", "Accept: application/json"
	if get[object](op, "requestBody") != nil {
		method, body, media = http.MethodPost, string(request.Example), "Content-Type: "+request.Types[0]
	}
	got := g.Do(t, method, "/api/v1"+path+"?"+query.Encode(), body, "Accept-Encoding: gzip", media)
	if got.Header.Get("Content-Encoding") == "gzip" {
		r, err := gzip.NewReader(strings.NewReader(got.Body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body = string(text)
	}
	if got.Status != http.StatusOK && got.Status != http.StatusPartialContent {
		t.Errorf("%s %s: status %d: %.200s", method, path, got.Status, got.Body)
	}
	if strings.HasSuffix(got.Body, `":[],"links":{"next":null}}`) {
		t.Errorf("%s %s is empty", method, path)
	}
	return got.Body
}

// shorten reads a JSON value. Of arrays it keeps two elements, of long texts the start.
func shorten(t *testing.T, d *json.Decoder) any {
	t.Helper()
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch v := token.(type) {
	case json.Delim:
		list, object := []any{}, openapi.Map[any]{}
		for d.More() {
			if v == '[' {
				if value := shorten(t, d); len(list) < 2 {
					list = append(list, value)
				}
				continue
			}
			name, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			object = append(object, openapi.Member[any]{Name: name.(string), Value: shorten(t, d)})
		}
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		if v == '[' {
			return list
		}
		return object
	case string:
		const most = 300
		if len(v) > most {
			return v[:66]
		}
	}
	return token
}
