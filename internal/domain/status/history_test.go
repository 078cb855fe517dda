package status

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
)

// TestHistoryOf derives statuses from updates. An event is hour, notice, old and new status, with "!" if it ends the
// notice. Known since hour 1.
func TestHistoryOf(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	names := map[string]ComponentStatus{
		"": "", "o": Operational, "d": DegradedPerformance, "p": PartialOutage,
		"m": MajorOutage,
	}
	for name, c := range map[string]struct{ events, want string }{
		"nothing":                             {"", "1o"},
		"one":                                 {"2 A o p, 3 A p d, 4 A d o!", "1o 2p 3d 4o"},
		"open":                                {"2 A o m", "1o 2m"},
		"the end mentions nothing":            {"2 A o m, 3 A - -!", "1o 2m 3o"},
		"the end does not change it":          {"2 A o p, 3 A p p!", "1o 2p"}, // kept
		"overlapping":                         {"2 A o p, 3 B p p, 4 A p d!, 5 B d o!", "1o 2p 4d 5o"},
		"overlapping, the second is worse":    {"2 A o d, 3 B d m, 4 A m m, 5 B m d!, 6 A d o!", "1o 2d 3m 5d 6o"},
		"reopened":                            {"2 A o p, 3 A p o!, 5 A o d, 6 A d o!", "1o 2p 3o 5d 6o"},
		"backfilled inside":                   {"2 A o m, 3 X o p, 4 X p o!, 5 A m o!", "1o 2m 5o"},
		"backfilled, and worse":               {"2 A o d, 3 X o m, 4 X m o!, 5 A d o!", "1o 2d 3m 4d 5o"},
		"backfilled, an update in it":         {"2 A o d, 3 X o m, 4 A d d, 5 X m o!, 6 A d o!", "1o 2d 3m 5d 6o"},
		"backfilled before":                   {"2 X o p, 3 A o d, 4 X p o!, 5 A d o!", "1o 2p 4d 5o"},
		"backfilled before all is known":      {"-9 X o p, -8 X p o!", "-9p -8 1o"},
		"a later update is displayed earlier": {"3 A o p, 2 A p o!", "1o 3o"},
		"other products: the latest counts":   {"2 A o p, 3 B p d, 4 B d o!", "1o 2p 3d 4o"},
		"set by an editor":                    {"2  o p, 3 A p m, 4 A m p!, 5  p o", "1o 2p 3m 4p 5o"},
		"backfilled, and kept":                {"2 A o p, 3 A p p!, 4 X o p, 5 X p o!", "1o 2p"},
		"set by an editor, not in documents":  {"3 A p m, 4 A m p!", "1o 3m 4p"},
	} {
		var events []*HistoryEvent
		for text := range strings.SplitSeq(c.events, ", ") {
			if text == "" {
				continue
			}
			part := strings.Split(text, " ")
			var hour int
			if _, err := fmt.Sscan(part[0], &hour); err != nil {
				t.Fatal(err)
			}
			e := &HistoryEvent{
				Notice: part[1], State: Investigating, CreatedAt: start.Add(time.Duration(len(events)) * time.Second),
				DisplayAt: ledger.Of(start.Add(time.Duration(hour) * time.Hour)),
				Old:       names[strings.Trim(part[2], "-")], New: names[strings.Trim(part[3], "-!")],
			}
			if strings.HasSuffix(text, "!") {
				e.State = Resolved
			}
			if e.Notice == "" {
				e.State = ""
			}
			events = append(events, e)
		}
		var got []string
		for _, p := range HistoryOf(events, start.Add(time.Hour), HistoryPoint{}) {
			text := string(p.Status)
			got = append(got, fmt.Sprintf("%d%.1s", int(p.At.Sub(start).Hours()), text))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}
