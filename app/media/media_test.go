package media_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"heliograph/app/media"
	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// inscription is a file in a topic, with what is wrong with it.
type inscription struct {
	typ     string
	content []byte
	change  func(i *inscription)

	uri, memo     string
	admin, submit []byte
	messages      []string
}

var ed25519 = append([]byte{0x12, 0x20}, make([]byte, 32)...)

// insert inscribes a file in a topic. Its parts arrive in any order, and some twice.
func (i *inscription) insert(tb testing.TB, b *pgx.Batch, topic int, random *rand.Rand) {
	tb.Helper()
	sum := sha256.Sum256(i.content)
	i.memo, i.submit = hex.EncodeToString(sum[:])+":zstd:base64", ed25519
	if i.uri == "" {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			tb.Fatal(err)
		}
		i.uri = "data:" + i.typ + ";base64," + base64.StdEncoding.EncodeToString(w.EncodeAll(i.content, nil))
	}
	const size = 1000
	for n := 0; n*size < len(i.uri); n++ {
		part := i.uri[n*size : min((n+1)*size, len(i.uri))]
		i.messages = append(i.messages, fmt.Sprintf(`{"o":%d,"c":%q}`, n, part))
	}
	if i.change != nil {
		i.change(i)
	}
	i.messages = append(i.messages, i.messages[len(i.messages)/2:]...)
	random.Shuffle(len(i.messages), func(x, y int) { i.messages[x], i.messages[y] = i.messages[y], i.messages[x] })
	b.Queue(`insert into topic (id, admin_key, submit_key, created_timestamp, timestamp_range)
		values ($1, $2, $3, 1, '[1,)')`, topic, i.admin, i.submit)
	b.Queue(`insert into entity (id, num, realm, shard, type, memo, created_timestamp, timestamp_range)
		values ($1, $1, 0, 0, 'TOPIC', $2, 1, '[1,)')`, topic, i.memo)
	b.Queue(`insert into custom_fee (entity_id, timestamp_range) values ($1, '[1,)')`, topic)
	b.Queue(`insert into topic_message (topic_id, sequence_number, consensus_timestamp, message, payer_account_id,
			running_hash, running_hash_version)
		select $1, n, $1::bigint * 100000 + n, m::bytea, 1001, '\x00', 3
		from unnest($2::text[]) with ordinality as x (m, n)`, topic, i.messages)
}

const script = `<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = 'ran'</script></svg>`

// files returns 50 files of 1 KB to 1 MB with the status of their responses. Files without a status are served.
func files(tb testing.TB, random *rand.Rand) (list []*inscription, status []int) {
	tb.Helper()
	noise := func(size int) []byte {
		b := make([]byte, size)
		for n := range b {
			b[n] = byte(random.Uint32())
		}
		return b
	}
	add := func(code int, i *inscription) { list, status = append(list, i), append(status, code) }
	for size := 1 << 10; size <= 1<<20; size *= 2 { // 11 sizes, 33 files
		add(0, &inscription{typ: "image/png", content: noise(size)})
		add(0, &inscription{typ: "application/json", content: []byte(`{"name":"` + strings.Repeat("fog", size/3) +
			`"}`)})
		add(0, &inscription{typ: "image/svg+xml", content: []byte(script + strings.Repeat("<!-- wave -->", size/13))})
	}
	picture := func(change func(i *inscription)) *inscription {
		return &inscription{typ: "image/jpeg", content: noise(50_000), change: change}
	}
	for range 3 {
		add(http.StatusUnprocessableEntity, picture(func(i *inscription) {
			i.memo = strings.Repeat("1", 64) + ":zstd:base64"
		}))
		for _, at := range []int{0, 7, 20} {
			add(http.StatusNotFound, picture(func(i *inscription) {
				i.messages = slices.Delete(i.messages, at, at+1)
			}))
		}
	}
	add(http.StatusNotFound, picture(func(i *inscription) { i.messages = i.messages[:len(i.messages)-1] }))
	add(http.StatusNotFound, picture(func(i *inscription) { i.admin = ed25519 }))
	add(http.StatusNotFound, picture(func(i *inscription) { i.submit = nil }))
	add(http.StatusNotFound, picture(func(i *inscription) { i.memo = "Photo album" }))
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	if err != nil {
		tb.Fatal(err)
	}
	for range 1 << 10 {
		_, _ = w.Write(make([]byte, 1<<20))
	}
	_ = w.Close()
	add(http.StatusUnprocessableEntity, &inscription{
		uri: "data:image/png;base64," + base64.StdEncoding.EncodeToString(packed.Bytes()), content: nil,
	})
	return list, status
}

// TestFiles serves 50 files from topics, and checks the bytes or the reason, the headers, and the memory.
func TestFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(43, 4))
	list, status := files(t, random)
	if len(list) != 50 {
		t.Fatalf("%d files", len(list))
	}
	url := testenv.Empty.Fresh(t)
	conn := pgtest.Connect(t, url)
	for n, i := range list {
		var b pgx.Batch
		i.insert(t, &b, 5000+n, random)
		if err := conn.SendBatch(t.Context(), &b).Close(); err != nil {
			t.Fatal(err)
		}
		i.messages = nil
	}
	peak := watchMemory(t)
	for _, cached := range []bool{false, true} {
		g := testenv.Over(t, url, func(o *testenv.Options) { o.REST.Cache = cached })
		for round := range 2 {
			for n, i := range list {
				got := g.Get(t, fmt.Sprintf("/hcs/1/0.0.%d", 5000+n))
				want := status[n]
				if want == 0 {
					want = http.StatusOK
				}
				if got.Status != want || want == http.StatusOK && (got.Body != string(i.content) ||
					got.Header.Get("Content-Type") != i.typ) {
					t.Errorf("file %d: status %d, %d bytes, %s", n, got.Status, len(got.Body),
						got.Header.Get("Content-Type"))
				}
				if policy := got.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox") ||
					strings.Contains(policy, "script") || got.Header.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("file %d: policy %q", n, policy)
				}
				if want != http.StatusOK && got.Header.Get("Cache-Control") != "" {
					t.Errorf("file %d: a refusal that is cached: %s", n, got.Header.Get("Cache-Control"))
				}
				if cached && n%7 == 0 && status[n] == 0 {
					tag := got.Header.Get("ETag")
					again := g.Do(t, http.MethodGet, fmt.Sprintf("/hcs/1/%d", 5000+n), "", "If-None-Match: "+tag)
					if again.Status != http.StatusNotModified || again.Body != "" || len(tag) != 66 ||
						!strings.Contains(got.Header.Get("Cache-Control"), "immutable") {
						t.Errorf("file %d: status %d for %s", n, again.Status, tag)
					}
				}
				if want != http.StatusOK && !cached && round == 0 {
					t.Logf("file %d: %s", n, got.Body)
				}
			}
		}
	}
	if used := peak() >> 20; used > 100 {
		t.Errorf("%d MiB in use", used)
	} else {
		t.Logf("at most %d MiB of the heap in use", used)
	}
}

// watchMemory returns a function that returns how many more bytes of the heap were in use than at its start, at most.
func watchMemory(t *testing.T) func() uint64 {
	t.Helper()
	debug.FreeOSMemory()
	read := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	start, done, most := read(), make(chan struct{}), make(chan uint64)
	go func() {
		highest := start
		for {
			select {
			case <-done:
				most <- highest - start
				return
			case <-time.After(time.Millisecond):
				highest = max(highest, read())
			}
		}
	}()
	return func() uint64 {
		close(done)
		return <-most
	}
}

// TestFetch reads metadata outside of the ledger: once an hour, in limited size and time, and not from other networks.
func TestFetch(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	mux := http.NewServeMux()
	reply := func(path, typ, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.Header().Set("Content-Type", typ)
			_, _ = w.Write([]byte(body))
		})
	}
	reply("/good.json", "application/json; charset=utf-8", `{"name":"Lighthouse"}`)
	reply("/picture", "image/png", strings.Repeat("x", 1<<20))
	reply("/large.json", "application/json", `{"name":"`+strings.Repeat("x", 1<<20)+`"}`)
	mux.Handle("/moved.json", http.RedirectHandler("/good.json", http.StatusFound))
	mux.Handle("/around.json", http.RedirectHandler("/around.json", http.StatusFound))
	server := httptest.NewServer(mux)
	defer server.Close()
	other := media.NewFetcher(nil)
	f := media.NewFetcher([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	for path, want := range map[string]string{
		"/good.json": `{"name":"Lighthouse"}`, "/moved.json": `{"name":"Lighthouse"}`, "/picture": "",
		"/missing.json": "! the server of the metadata responds with status 404",
		"/around.json":  "! the server of the metadata responds with status 302",
		"/large.json":   "! the metadata has more than 65536 bytes",
	} {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				got, err := f.Fetch(t.Context(), server.URL+path)
				text := "! " + fmt.Sprint(err)
				if err != nil && text != want || err == nil && string(got.Content) != want {
					t.Errorf("%s: %v, %v", path, got, err)
				}
			})
		}
		all.Wait()
		if _, err := other.Fetch(t.Context(), server.URL+path); err == nil || strings.Contains(err.Error(), "127") {
			t.Errorf("%s without permission: %v", path, err)
		}
	}
	if n := requests.Load(); n != 4 { // one of them is for the redirect
		t.Errorf("%d requests", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cancel()
	if _, err := f.Fetch(ctx, server.URL+"/new.json"); err == nil {
		t.Error("a request without a client")
	}
	mux.HandleFunc("/new.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	if got, err := f.Fetch(t.Context(), server.URL+"/new.json"); err != nil {
		t.Errorf("after a client has disconnected: %v, %v", got, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	mux.HandleFunc("/left.json", func(w http.ResponseWriter, _ *http.Request) {
		cancel() // the client disconnects while its request is answered
		time.Sleep(10 * time.Millisecond)
		_, _ = w.Write([]byte("{}"))
	})
	if got, err := f.Fetch(ctx, server.URL+"/left.json"); err != nil {
		t.Errorf("others that wait for a client which disconnects: %v, %v", got, err)
	}
}

// TestPrice checks what the field costs: the NFT, 10 for what it shows, its picture, two other files and five
// attributes.
func TestPrice(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	for selection, want := range map[string]string{
		"serialNumber": "101", "media { name }": "1101", "media { image { url } }": "1201",
		"media { name image { url } files { url } attributes { value } }": "1901",
	} {
		got := g.Query(t, `{ nfts(first: 100) { nodes { `+selection+` } } }`, nil)
		if cost := got.Header.Get("X-Query-Cost"); cost != want {
			t.Errorf("%s: cost %s, not %s", selection, cost, want)
		}
	}
}

// TestDemo reads what the NFTs of the demo network show: JSON, data: URIs, and files in topics.
func TestDemo(t *testing.T) {
	t.Parallel()
	g := testenv.Shared(t)
	var data struct {
		Nfts struct {
			Nodes []struct {
				TokenID, SerialNumber string
				Media                 *struct {
					Name, Problem, Location, Standard string
					Image                             *struct{ URL, MimeType string }
					Files, Attributes                 []struct{}
				}
			}
		}
	}
	g.Data(t, `{ nfts(first: 9) { nodes { tokenId serialNumber media { name problem location standard
		image { url mimeType } files { url } attributes { value } } } } }`, nil, &data)
	var got strings.Builder
	for _, n := range data.Nfts.Nodes {
		m := n.Media
		fmt.Fprintf(&got, "%s/%s %q %q %q %q %d %d %v\n", n.TokenID, n.SerialNumber, m.Name, m.Problem, m.Location,
			m.Standard, len(m.Files), len(m.Attributes), m.Image)
		if m.Image != nil && strings.HasPrefix(m.Image.URL, "/") {
			if file := g.Get(t, m.Image.URL); file.Header.Get("Content-Type") != m.Image.MimeType ||
				!strings.HasPrefix(file.Body, "<svg ") {
				t.Errorf("%s: %d %s", m.Image.URL, file.Status, file.Body)
			}
		}
	}
	if diff := testenv.Diff(`0.0.2015/3 "" "" "hcs://1/0.0.4007" "" 0 0 &{/hcs/1/0.0.4007 image/svg+xml}
0.0.2015/2 "Signal flag L" "" "hcs://1/0.0.4010" "HIP412@2.0.0" 1 3 &{/hcs/1/0.0.4009 image/svg+xml}
0.0.2015/1 "Signal flag A" "" "hcs://1/0.0.4008" "HIP412@2.0.0" 1 3 &{/hcs/1/0.0.4007 image/svg+xml}
0.0.2014/2 "Pennant of the ferry" "" "" "HIP412@2.0.0" 0 0 <nil>
0.0.2014/1 "" "" "" "" 0 0 &{data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><path fill="red" d="M0 0h90v90"/></svg> image/svg+xml}
0.0.2013/2 "Low water" "" "" "" 0 1 <nil>
0.0.2013/1 "High water" "" "" "" 0 0 <nil>
0.0.2010/3 "" "the metadata is neither JSON nor a location of a known form" "" "" 0 0 <nil>
0.0.2010/2 "" "the metadata is neither JSON nor a location of a known form" "" "" 0 0 <nil>
`, got.String()); diff != "" {
		t.Error(diff)
	}
}

// TestMedia reads the pictures of NFTs through the graph, with metadata outside of the ledger.
func TestMedia(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"name":%q,"image":"ipfs://pictures/1.png","type":"image/png"}`, r.URL.Path)
	}))
	defer server.Close()
	at, err := url.Parse(server.URL + "/ipfs/")
	if err != nil {
		t.Fatal(err)
	}
	for _, fetch := range []bool{false, true} {
		g := testenv.Demo(t, func(o *testenv.Options) {
			o.Media.Places.IPFS = at
			if fetch {
				o.Media.Fetch = media.NewFetcher([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}).Fetch
			}
		})
		var data struct {
			Gateway struct{ Capabilities struct{ FetchMedia bool } }
			Nft     struct {
				Media struct {
					Name, Problem *string
					Location, URL string
					Image         *struct{ URL, MimeType string }
				}
			}
		}
		g.Data(t, `{ gateway { capabilities { fetchMedia } }
			nft(token: "0.0.2007", serialNumber: 1) { media { name problem location url image { url mimeType } } } }`,
			nil, &data)
		m := data.Nft.Media
		if data.Gateway.Capabilities.FetchMedia != fetch || m.Location != "ipfs://lighthouses/East Mole.json" ||
			m.URL != server.URL+"/ipfs/lighthouses/East%20Mole.json" || (m.Problem == nil) != fetch ||
			(m.Name == nil) == fetch || (m.Image == nil) == fetch {
			t.Errorf("fetch %t: %+v", fetch, data)
		}
		if fetch && (*m.Name != "/ipfs/lighthouses/East Mole.json" ||
			m.Image.URL != server.URL+"/ipfs/pictures/1.png") {
			t.Errorf("%s, %+v", *m.Name, m.Image)
		}
	}
}
