package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"heliograph/app/testing/testenv"
)

// reader is a client that counts its requests and the bytes that it receives. Requests follow each other, as each
// needs what the one before has returned, except where a screen sends several at once.
type reader struct {
	t               *testing.T
	g               *testenv.Gateway
	requests, bytes int
}

func (r *reader) count(resp *testenv.Response) string {
	r.t.Helper()
	if resp.Status != http.StatusOK || strings.Contains(resp.Body, `"errors"`) {
		r.t.Fatalf("%d %.500s", resp.Status, resp.Body)
	}
	r.requests++
	r.bytes += len(resp.Body)
	return resp.Body
}

// query reads the data of a document into v.
func (r *reader) query(v any, document string, variables map[string]any) {
	r.t.Helper()
	data := struct{ Data any }{v}
	testenv.Decode(r.t, r.count(r.g.Query(r.t, document, variables)), &data)
}

// get returns the body of a path.
func (r *reader) get(path string) string { return r.count(r.g.Get(r.t, path)) }

// rows returns the rows of an export.
func (r *reader) rows(document string, variables map[string]any) []json.RawMessage {
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	if err != nil {
		r.t.Fatal(err)
	}
	text := r.count(r.g.Do(r.t, http.MethodPost, "/graphql", string(body), "Content-Type: application/json",
		"Accept: application/x-ndjson"))
	var all []json.RawMessage
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var row json.RawMessage
		if err := d.Decode(&row); err == io.EOF {
			return all
		} else if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, row)
	}
}

type (
	watched struct {
		EntityID     string
		Memo         string
		BalanceValue struct{ Display, Usd string }
	}
	picture  struct{ Name, Hash string }
	transfer struct {
		ConsensusTimestamp string
		Transfers          []struct{ AccountID, Amount string }
	}
)

const (
	watchedFields  = `{ entityId memo balanceValue { display usd } }`
	transferFields = `{ consensusTimestamp transfers { accountId amount } }`
)

// walletBefore reads each account of a watch list.
func walletBefore(r *reader) any {
	var all []watched
	for _, id := range watchList {
		var data struct{ Account watched }
		r.query(&data, `query($id: AccountRef!) { account(id: $id) `+watchedFields+` }`, map[string]any{"id": id})
		all = append(all, data.Account)
	}
	return all
}

// walletAfter reads them at once.
func walletAfter(r *reader) any {
	var data struct{ AccountsByIds []watched }
	r.query(&data, `query($ids: [EntityID!]!) { accountsByIds(ids: $ids) `+watchedFields+` }`,
		map[string]any{"ids": watchList})
	return data.AccountsByIds
}

var watchList = []string{
	"0.0.1001", "0.0.1002", "0.0.1003", "0.0.1004", "0.0.1005", "0.0.1006", "0.0.1007", "0.0.1008",
}

// inscribed reads a file that is inscribed in a topic, without the help of the gateway.
func (r *reader) inscribed(topic string) []byte {
	parts := map[int]string{}
	after := ""
	for {
		var data struct {
			Topic struct {
				Messages struct {
					Nodes    []struct{ Text string }
					PageInfo struct {
						HasNextPage bool
						EndCursor   string
					}
				}
			}
		}
		variables := map[string]any{"topic": topic}
		if after != "" {
			variables["after"] = after
		}
		r.query(&data, `query($topic: EntityID!, $after: String) { topic(id: $topic) { messages(first: 100, after: $after) {
			nodes { text } pageInfo { hasNextPage endCursor } } } }`, variables)
		for _, m := range data.Topic.Messages.Nodes {
			var part struct {
				O int
				C string
			}
			testenv.Decode(r.t, m.Text, &part)
			parts[part.O] = part.C
		}
		page := data.Topic.Messages.PageInfo
		if after = page.EndCursor; !page.HasNextPage {
			break
		}
	}
	var text strings.Builder
	for _, o := range slices.Sorted(maps.Keys(parts)) {
		text.WriteString(parts[o])
	}
	_, encoded, _ := strings.Cut(text.String(), ",")
	packed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		r.t.Fatal(err)
	}
	unpack, err := zstd.NewReader(bytes.NewReader(packed))
	if err != nil {
		r.t.Fatal(err)
	}
	defer unpack.Close()
	file, err := io.ReadAll(unpack)
	if err != nil {
		r.t.Fatal(err)
	}
	return file
}

func hashOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// galleryBefore reads the metadata and the pictures of a collection from the topics in which they are inscribed.
func galleryBefore(r *reader) any {
	var data struct {
		Token struct {
			Nfts struct {
				Nodes []struct{ MetadataText string }
			}
		}
	}
	r.query(&data, `{ token(id: "0.0.2015") { nfts(first: 12) { nodes { metadataText } } } }`, nil)
	var all []picture
	for _, nft := range data.Token.Nfts.Nodes {
		const inTopic = "hcs://1/"
		file := r.inscribed(strings.TrimPrefix(nft.MetadataText, inTopic))
		var of struct{ Name, Image string }
		if json.Unmarshal(file, &of) != nil { // the metadata is the picture
			all = append(all, picture{Hash: hashOf(file)})
			continue
		}
		all = append(all, picture{of.Name, hashOf(r.inscribed(strings.TrimPrefix(of.Image, inTopic)))})
	}
	return all
}

// galleryAfter reads the names and addresses of the pictures at once, and the pictures.
func galleryAfter(r *reader) any {
	var data struct {
		Token struct {
			Nfts struct {
				Nodes []struct {
					Media struct {
						Name  string
						Image struct{ URL string }
					}
				}
			}
		}
	}
	r.query(&data, `{ token(id: "0.0.2015") { nfts(first: 12) { nodes { media { name image { url } } } } } }`, nil)
	var all []picture
	for _, nft := range data.Token.Nfts.Nodes {
		all = append(all, picture{nft.Media.Name, hashOf([]byte(r.get(nft.Media.Image.URL)))})
	}
	return all
}

// blockBefore reads the transactions of all blocks with their transfers, in pages of 100.
func blockBefore(r *reader) any {
	var all []transfer
	variables := map[string]any{}
	for {
		var data struct {
			Transactions struct {
				Nodes    []transfer
				PageInfo struct {
					HasNextPage bool
					EndCursor   string
				}
			}
		}
		r.query(&data, `query($after: String) { transactions(order: ASC, first: 100, after: $after) {
			nodes `+transferFields+` pageInfo { hasNextPage endCursor } } }`, variables)
		all = append(all, data.Transactions.Nodes...)
		if variables["after"] = data.Transactions.PageInfo.EndCursor; !data.Transactions.PageInfo.HasNextPage {
			return all
		}
	}
}

// blockAfter reads them as one stream.
func blockAfter(r *reader) any {
	var all []transfer
	for _, row := range r.rows(`{ transactions(order: ASC, first: 100) { nodes `+transferFields+` } }`, nil) {
		var one transfer
		testenv.Decode(r.t, string(row), &one)
		all = append(all, one)
	}
	return all
}

// TestRebuilt builds screens with and without the fields and formats that replace several requests. Both must show the
// same. Run it with -v for the numbers in docs/performance.md.
func TestRebuilt(t *testing.T) {
	g := testenv.Demo(t)
	for _, screen := range []struct {
		name          string
		before, after func(*reader) any
		requests      [2]int
	}{
		{"wallet with eight accounts", walletBefore, walletAfter, [2]int{len(watchList), 1}},
		{"gallery of three NFTs in topics", galleryBefore, galleryAfter, [2]int{6, 4}},
		{"explorer: the transactions of all blocks", blockBefore, blockAfter, [2]int{76, 1}},
	} {
		t.Run(screen.name, func(t *testing.T) {
			var shown [2]any
			var line strings.Builder
			for i, build := range []func(*reader) any{screen.before, screen.after} {
				var times []time.Duration
				var r *reader
				for range 5 {
					r = &reader{t: t, g: g}
					from := time.Now()
					shown[i] = build(r)
					times = append(times, time.Since(from))
				}
				slices.Sort(times)
				fmt.Fprintf(&line, " | %d | %d | %s", r.requests, r.bytes,
					strconv.FormatFloat(float64(times[2].Microseconds())/1000, 'f', 1, 64))
				if r.requests != screen.requests[i] {
					t.Errorf("%d requests, want %d", r.requests, screen.requests[i])
				}
			}
			if !reflect.DeepEqual(shown[0], shown[1]) {
				t.Errorf("the screens differ:\n%.1000v\n%.1000v", shown[0], shown[1])
			}
			t.Logf("| %s%s |", screen.name, &line)
		})
	}
}
