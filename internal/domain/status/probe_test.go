package status_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"heliograph/internal/domain/status"
)

// TestHysteresis applies results, one letter each, and checks the level after each. The level becomes worse after
// three results, and better after two.
func TestHysteresis(t *testing.T) {
	t.Parallel()
	letters := map[rune]status.Level{'g': status.Good, 's': status.Slow, 'b': status.Bad, '-': status.Unknown}
	for results, want := range map[string]string{
		"gggg":                   "gggg",
		"bbb":                    "ggb",
		"bbgbbgbbg":              "ggggggggg",
		"bb-b":                   "gggb", // unknown results do not change the level
		"sbs":                    "ggs",  // all three say that it is slow at least
		"bsbbbb":                 "ggsssb",
		"bbbgbgbgg":              "ggbbbbbbg",
		"bbbgs":                  "ggbbs", // both say that it is slow at most
		"bbbsg":                  "ggbbs",
		"bbbgg":                  "ggbbg",
		"sssgbgbgb":              "ggsssssss",
		"sssbgbb":                "ggsssss",
		"bbbggbbsbbb":            "ggbbgggsssb"[:11],
		strings.Repeat("bg", 20): strings.Repeat("g", 40),
	} {
		h := status.Hysteresis{Level: status.Good, Toward: status.Good}
		var levels []byte
		for _, r := range results {
			h = h.Next(letters[r], 3, 2)
			levels = append(levels, h.Level[0])
		}
		if got := string(levels); got != want {
			t.Errorf("%s: got %s, want %s", results, got, want)
		}
	}
}

// TestHysteresisProperties applies random results. The level changes only after enough consecutive results that are
// all worse, or all better.
func TestHysteresisProperties(t *testing.T) {
	t.Parallel()
	levels := []status.Level{status.Good, status.Slow, status.Bad}
	rank := map[status.Level]int{status.Good: 0, status.Slow: 1, status.Bad: 2}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		fail, pass := int32(1+random.IntN(4)), int32(1+random.IntN(4))
		h := status.Hysteresis{Level: status.Good, Toward: status.Good}
		var seen []status.Level
		since := 0
		for range 100 {
			r := levels[random.IntN(3)]
			seen = append(seen, r)
			before := h.Level
			h = h.Next(r, fail, pass)
			if h.Level == before {
				continue
			}
			need := int(pass)
			if rank[h.Level] > rank[before] {
				need = int(fail)
			}
			last := seen[max(since, len(seen)-need):]
			if len(last) < need {
				t.Fatalf("%s changed after %d results", before, len(last))
			}
			reached := false
			for _, l := range last {
				if (rank[l] > rank[before]) != (rank[h.Level] > rank[before]) || l == before {
					t.Fatalf("%s changed to %s after %s", before, h.Level, last)
				}
				if (rank[h.Level] > rank[before]) == (rank[l] < rank[h.Level]) && l != h.Level {
					t.Fatalf("%s changed to %s after %s", before, h.Level, last)
				}
				reached = reached || l == h.Level
			}
			if !reached {
				t.Fatalf("%s changed to %s, which is not among %s", before, h.Level, last)
			}
			since = len(seen)
		}
	}
}
