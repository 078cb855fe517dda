package gateway_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"heliograph/app/testing/testenv"
	"heliograph/tests/browser/webtest"
)

const (
	scriptedSVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="new Image().src = '/ran?load'">` +
		`<rect width="9" height="9"/><script>new Image().src = '/ran?script'; fetch('/ran?fetch')</script></svg>`
	scriptedPage = `<!doctype html><script>new Image().src = '/ran?page'</script><p>page</p>`
	scriptAlone  = `new Image().src = '/ran?file'`
)

// TestFilesRunNoScripts opens files from topics as documents, in frames, as objects, as images and as scripts. The same
// files without the headers of the gateway run their scripts.
func TestFilesRunNoScripts(t *testing.T) {
	database := testenv.Empty.Fresh(t)
	files := []struct{ typ, content string }{
		{"image/svg+xml", scriptedSVG},
		{"text/html", scriptedPage},
		{"text/javascript", scriptAlone},
		{"application/xhtml+xml", scriptedPage},
		{"image/png", scriptedPage},
		{"application/json", scriptAlone},
	}
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		sum, topic := sha256.Sum256([]byte(f.content)), 5000+i
		message := fmt.Sprintf(`{"o":0,"c":"data:%s;base64,%s"}`, f.typ,
			base64.StdEncoding.EncodeToString(pack.EncodeAll([]byte(f.content), nil)))
		testenv.Exec(t, database,
			fmt.Sprintf(`insert into topic (id, submit_key, timestamp_range) values (%d, '\x1220`+strings.Repeat("00",
				32)+
				`', '[1,)')`, topic),
			fmt.Sprintf(`insert into custom_fee (entity_id, timestamp_range) values (%d, '[1,)')`, topic),
			fmt.Sprintf(`insert into entity (id, num, realm, shard, type, memo, timestamp_range)
				values (%[1]d, %[1]d, 0, 0, 'TOPIC', '%[2]s:zstd:base64', '[1,)')`, topic, hex.EncodeToString(sum[:])),
			fmt.Sprintf(`insert into topic_message (topic_id, sequence_number, consensus_timestamp, message, running_hash)
				values (%[1]d, 1, %[1]d, '%[2]s'::bytea, '\x00')`, topic, message))
	}
	g := testenv.Over(t, database)
	backend, err := url.Parse(g.URL)
	if err != nil {
		t.Fatal(err)
	}
	var ran atomic.Int64
	mux := http.NewServeMux()
	mux.Handle("/hcs/", httputil.NewSingleHostReverseProxy(backend))
	mux.HandleFunc("/ran", func(http.ResponseWriter, *http.Request) { ran.Add(1) })
	var frames strings.Builder
	for i, f := range files {
		mux.HandleFunc(fmt.Sprintf("/open/%d", i), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", f.typ)
			_, _ = w.Write([]byte(f.content))
		})
		for _, element := range []string{
			`<iframe src="%s"></iframe>`, `<object data="%s"></object>`, `<embed src="%s">`, `<img src="%s">`,
			`<script src="%s"></script>`,
		} {
			fmt.Fprintf(&frames, element, fmt.Sprintf("/hcs/1/0.0.%d", 5000+i))
		}
	}
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "<!doctype html><title>page</title>%s", frames.String())
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	p := webtest.New(t, webtest.Options{})
	for i, f := range files {
		if status := g.Get(t, fmt.Sprintf("/hcs/1/0.0.%d", 5000+i)).Status; status != http.StatusOK {
			t.Fatalf("%s: status %d", f.typ, status)
		}
	}
	p.Open(server.URL + "/page")
	p.Wait("the frames and the picture",
		`document.readyState === 'complete' && [...document.images].some((i) => i.naturalWidth > 0)`)
	p.Open(server.URL + "/hcs/1/0.0.5000")
	p.Open(server.URL + "/page") // the document before has been loaded
	p.Wait("the frames again", `document.readyState === 'complete'`)
	if n := ran.Load(); n != 0 {
		t.Errorf("files ran scripts: %d requests", n)
	}
	p.Open(server.URL + "/open/0")
	p.Wait("the page of the same file without the headers", `document.documentElement !== null`)
	p.Open(server.URL + "/open/1")
	p.Wait("the page without the headers", `document.readyState === 'complete'`)
	p.Open(server.URL + "/page")
	p.Wait("the end", `document.readyState === 'complete'`)
	if n := ran.Load(); n < 3 {
		t.Errorf("%d requests of files without the headers: the test cannot see whether scripts run", n)
	}
}
