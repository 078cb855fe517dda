package resolvers_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heliograph/app/testing/testenv"
	"heliograph/storage/pgtest"
)

// TestOddChunks joins chunks that are out of order, missing, repeated, or have invalid numbers. Each topic has one
// case.
func TestOddChunks(t *testing.T) {
	t.Parallel()
	// A chunk is "number/total" and an optional message after a letter; a message without a number is not chunked. A
	// number in brackets is that of the sequence.
	cases := []struct{ chunks, want string }{
		{"1/3 2/3 3/3", "1/3:123!"},
		{"2/2 1/2", "1/2:12!"},
		{"3/3 2/3 1/3", "1/3:123!"},
		{"2/3 3/3", "2/3:23"},
		{"3/3 2/3", "3/3:23"},
		{"1/3 3/3", "1/3:13"},
		{"1/3", "1/3:1"},
		{"3/3", "3/3:3"},
		{"1/2 2/2 2/2", "1/2:12!"},
		{"1/3 2/3 2/3 3/3", "1/3:123!"},
		{"1/2 5/2 2/2", "1/2:12! 5/2:5"},
		{"5/2", "5/2:5"},
		{"0/2 1/2 2/2", "0/2:0 1/2:12!"},
		{"-1/2", "-1/2:-1"},
		{"1/1", "1/1:1!"},
		{"1/0", "1/0:1"},
		{"2/101 1/101", "2/101:2 1/101:1"},
		{"1/2 2/3", "1/2:1 2/3:2"},
		{"1/2a 1/2b 2/2b 2/2a", "1/2:12! 1/2:12!"},
		{"x 1/2 x 2/2 x", "x! 1/2:12! x! x!"},
		{"1/2 [300] 2/2", "1/2:1 2/2:2"},
		{"2/2 [300] 1/2", "2/2:2 1/2:1"},
		{"1/2 [256] 2/2", "1/2:12!"},
		{"2/3 [200] 3/3 [200] 1/3", "2/3:2 1/3:13"},
		{"1/4 [250] 2/4 [250] 3/4", "1/4:12 3/4:3"},
		{"2/4 [250] 3/4 [250] 4/4", "2/4:23 4/4:4"},
	}
	url := testenv.Filled.Fresh(t)
	conn := pgtest.Connect(t, url)
	at := 0
	for i, c := range cases {
		sequence := 1
		for word := range strings.FieldsSeq(c.chunks) {
			var step int
			if n, _ := fmt.Sscanf(word, "[%d]", &step); n == 1 {
				sequence += step - 1
				continue
			}
			at++
			var number, total any
			text, start := word, 5
			var a, b int
			if n, _ := fmt.Sscanf(word, "%d/%d", &a, &b); n == 2 {
				number, total, text = a, b, strconv.Itoa(a)
				start += strings.Index("ab", word[len(word)-1:]) + 1
			}
			if _, err := conn.Exec(t.Context(), `insert into topic_message (topic_id, sequence_number, consensus_timestamp, message, payer_account_id, running_hash,
				running_hash_version, chunk_num, chunk_total, valid_start_timestamp) values ($1, $2, $3, $4, 1001, '\x00', 3, $5, $6, $7)`,
				7_000_000+i, sequence, at, []byte(text), number, total, start); err != nil {
				t.Fatal(err)
			}
			sequence++
		}
	}
	g := testenv.Over(t, url)
	for i, c := range cases {
		for _, order := range []string{"ASC", "DESC"} {
			var data struct {
				TopicMessages struct {
					Nodes []struct {
						Text         string
						Complete     bool
						JoinedChunks int
						ChunkInfo    *struct{ Number, Total int }
					}
				}
			}
			g.Data(t,
				`query($t: EntityID!, $o: Order!) { topicMessages(topic: $t, joinChunks: true, order: $o) { nodes { `+
					`text complete joinedChunks chunkInfo { number total } } } }`,
				map[string]any{"t": strconv.Itoa(7_000_000 + i), "o": order}, &data)
			var got []string
			for _, m := range data.TopicMessages.Nodes {
				text := m.Text
				if m.ChunkInfo != nil {
					text = fmt.Sprintf("%d/%d:%s", m.ChunkInfo.Number, m.ChunkInfo.Total, m.Text)
				}
				if m.Complete {
					text += "!"
				}
				got = append(got, text)
				if joined := len(strings.TrimPrefix(m.Text, "-")); m.JoinedChunks != joined {
					t.Errorf("%s: %d joined chunks in %s", c.chunks, m.JoinedChunks, text)
				}
			}
			if order == "DESC" {
				slices.Reverse(got)
			}
			if joined := strings.Join(got, " "); joined != c.want {
				t.Errorf("%s, %s: %s, want %s", c.chunks, order, joined, c.want)
			}
		}
	}
}

// TestEachChunk inserts chunks in random order, of which some are missing, and checks that each is in exactly one
// message.
func TestEachChunk(t *testing.T) {
	t.Parallel()
	const topics, messages = 12, 8
	url := testenv.Filled.Fresh(t)
	conn := pgtest.Connect(t, url)
	random := rand.New(rand.NewPCG(1, 2))
	want := map[string]int{}
	at := 0
	for topic := range topics {
		var chunks [][3]int // message, number, total
		for m := range messages {
			total := 1 + random.IntN(6)
			for number := 1; number <= total; number++ {
				if random.IntN(5) > 0 {
					chunks = append(chunks, [3]int{m, number, total})
				}
			}
		}
		if topic%2 == 0 {
			random.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] })
		}
		for i, c := range chunks {
			at++
			text := fmt.Sprintf("<%d.%d.%d>", topic, c[0], c[1])
			want[text] = 1
			if _, err := conn.Exec(t.Context(), `insert into topic_message (topic_id, sequence_number, consensus_timestamp, message, payer_account_id, running_hash,
				running_hash_version, chunk_num, chunk_total, valid_start_timestamp) values ($1, $2, $3, $4, 1001, '\x00', 3, $5, $6, $7)`,
				8_000_000+topic, i+1, at, []byte(text), c[1], c[2], 100+c[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	g := testenv.Over(t, url)
	for topic := range topics {
		var data struct {
			TopicMessages struct {
				Nodes []struct {
					Text      string
					Complete  bool
					ChunkInfo struct{ Total int }
				}
			}
		}
		g.Data(t,
			`query($t: EntityID!) { topicMessages(topic: $t, joinChunks: true, first: 100) { nodes { text complete `+
				`chunkInfo { total } } } }`,
			map[string]any{"t": strconv.Itoa(8_000_000 + topic)}, &data)
		for _, m := range data.TopicMessages.Nodes {
			chunks := strings.SplitAfter(m.Text, ">")
			chunks = chunks[:len(chunks)-1]
			for _, c := range chunks {
				want[c]--
			}
			if !slices.IsSorted(chunks) || m.Complete != (len(chunks) == m.ChunkInfo.Total) {
				t.Errorf("topic %d: %+v", topic, m)
			}
		}
	}
	for chunk, left := range want {
		if left != 0 {
			t.Errorf("the chunk %s is in %d messages", chunk, 1-left)
		}
	}
}
