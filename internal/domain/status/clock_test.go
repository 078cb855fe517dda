package status

import (
	"math"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"heliograph/internal/domain/ledger"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func instantOf(t *testing.T, text, zoneName string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.In(zone(t, zoneName))
}

func TestAppendTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ at, zone, want string }{
		{"2026-07-17T20:00:10.05Z", "America/New_York", "2026-07-17T16:00:10.050-04:00"},
		{"2023-01-09T15:00:00Z", "America/New_York", "2023-01-09T10:00:00.000-05:00"},
		{"2023-01-09T15:00:00Z", "Asia/Kolkata", "2023-01-09T20:30:00.000+05:30"},
		{"2023-01-09T15:00:00Z", "Etc/UTC", "2023-01-09T15:00:00.000Z"},
		{"2023-01-09T15:00:00Z", "UTC", "2023-01-09T15:00:00.000Z"},
		{"2023-01-09T15:00:00.123Z", "Europe/London", "2023-01-09T15:00:00.123+00:00"},
		{"2023-07-09T15:00:00.999Z", "Europe/London", "2023-07-09T16:00:00.999+01:00"},
		// Both changes of the clock: the hour that is skipped, and the one that is there twice.
		{"2026-03-08T06:59:59.999Z", "America/New_York", "2026-03-08T01:59:59.999-05:00"},
		{"2026-03-08T07:00:00Z", "America/New_York", "2026-03-08T03:00:00.000-04:00"},
		{"2026-11-01T05:30:00Z", "America/New_York", "2026-11-01T01:30:00.000-04:00"},
		{"2026-11-01T06:30:00Z", "America/New_York", "2026-11-01T01:30:00.000-05:00"},
	} {
		if got := string(AppendTime(nil, instantOf(t, c.at, c.zone))); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.at, c.zone, got, c.want)
		}
	}
}

func TestZones(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "Local", "Mars/Olympus", "../etc/passwd"} {
		if _, err := LoadZone(name); err == nil {
			t.Errorf("%q is accepted as a zone", name)
		}
	}
	if got := Milliseconds(time.Unix(1, 1_999_999)); got.Nanosecond() != 1_000_000 {
		t.Errorf("%d ns, want whole milliseconds", got.Nanosecond())
	}
}

func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		date Date
		zone string
		want string
	}{
		{"2026-03-08", "America/New_York", "2026-03-08T05:00:00Z"},
		{"2026-03-09", "America/New_York", "2026-03-09T04:00:00Z"},
		{"2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"}, // the clock skipped midnight
	} {
		if got := c.date.Start(zone(t, c.zone)).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("start of %s in %s: %s", c.date, c.zone, got)
		}
	}
	if d := Date("2024-02-28").Next().Next(); d != "2024-03-01" {
		t.Errorf("two days later: %s", d)
	}
	for _, text := range []string{"2026-02-30", "2026-1-1", "2026-01-01T00:00:00Z", ""} {
		if _, err := ParseDate(text); err == nil {
			t.Errorf("%q is accepted as a date", text)
		}
	}
}

func TestUptime(t *testing.T) {
	t.Parallel()
	const ny = "America/New_York"
	point := func(at string, s ComponentStatus) HistoryPoint { return HistoryPoint{instantOf(t, at, ny), s} }
	// The 8th of March has 23 hours there.
	known := []HistoryPoint{
		point("2026-01-01T00:00:00Z", Operational),
		point("2026-03-07T17:00:00Z", PartialOutage),    // noon of the 7th
		point("2026-03-08T06:00:00Z", UnderMaintenance), // 1 am of the 8th
		point("2026-03-08T07:00:00Z", MajorOutage),      // 3 am, an hour later
		point("2026-03-08T09:18:00Z", Operational),      // 2.3 hours later
	}
	u := UptimeOf(known, "2026-03-06", 90, instantOf(t, "2026-03-09T16:00:00Z", ny), Documented)
	want := []UptimeDay{
		{Date: "2026-03-06", Percent: 100, Worst: Operational},
		{Date: "2026-03-07", Percent: 100 - 0.3*100/2, Worst: PartialOutage, PartialSeconds: 12 * 3600},
		{
			Date: "2026-03-08", Percent: 100 * (1 - (0.3*1+2.3)/23), Worst: MajorOutage, OutageSeconds: 8280,
			PartialSeconds: 3600, MaintenanceSeconds: 3600,
		},
		{Date: "2026-03-09", Percent: 100, Worst: Operational},
	}
	if len(u.Days) != len(want) {
		t.Fatalf("%d days", len(u.Days))
	}
	for i, w := range want {
		g := *u.Days[i]
		if g.Date != w.Date || math.Abs(g.Percent-w.Percent) > 1e-9 || g.Worst != w.Worst ||
			g.OutageSeconds != w.OutageSeconds ||
			g.PartialSeconds != w.PartialSeconds || g.MaintenanceSeconds != w.MaintenanceSeconds {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	if all := 100 * (1 - (0.3*13+2.3)/(24+24+23+12)); math.Abs(u.Percent-all) > 1e-9 {
		t.Errorf("%f percent, want %f", u.Percent, all)
	}

	u = UptimeOf([]HistoryPoint{point("2026-01-01T00:00:00Z", UnderMaintenance)}, "2020-01-01", 2,
		instantOf(t, "2026-03-09T16:00:00Z", ny), Documented)
	if len(u.Days) != 2 || u.Percent != 100 || u.Days[1].Worst != UnderMaintenance ||
		u.Days[1].WorstShown != Operational ||
		u.Days[1].MaintenanceSeconds != 12*3600 {
		t.Errorf("always under maintenance: %+v %+v", u, u.Days[1])
	}
	if u = UptimeOf(known, "2026-04-01", 2, instantOf(t, "2026-03-09T16:00:00Z", ny), Documented); len(u.Days) != 0 ||
		u.Percent != 100 {
		t.Errorf("before the first day: %+v", u)
	}
	// Times and days without a known status do not count.
	u = UptimeOf([]HistoryPoint{
		point("2026-03-05T12:00:00Z", MajorOutage), point("2026-03-05T13:00:00Z", ""),
		point("2026-03-07T17:00:00Z", Operational),
	}, "2026-01-01", 90, instantOf(t, "2026-03-07T18:00:00Z", ny), Documented)
	if len(u.Days) != 2 || u.Days[0].Date != "2026-03-05" || u.Days[0].Percent != 0 || u.Days[1].Percent != 100 ||
		u.Percent != 50 {
		t.Errorf("with gaps: %+v", u)
	}
}

func TestComputeStatuses(t *testing.T) {
	t.Parallel()
	list := []*Component{
		{Code: "c", Name: "C", Position: 2, GroupCode: ledger.Of("g"), BaseStatus: DegradedPerformance},
		{Code: "g", Name: "G", Position: 2, ListIndex: 0, IsGroup: true},
		{Code: "b", Name: "B", Position: 1, ListIndex: 1, GroupCode: ledger.Of("g"), BaseStatus: Operational},
		{Code: "a", Name: "A", Position: 1, BaseStatus: Operational},
		{Code: "e", Name: "E", Position: 9, IsGroup: true},
		{Code: "o", Name: "O", Position: 8, GroupCode: ledger.Of("deleted"), BaseStatus: MajorOutage},
	}
	got := ComputeStatuses(list, map[string][]ComponentStatus{"a": {UnderMaintenance}, "c": {Operational}}, Documented)
	var order strings.Builder
	for _, c := range got {
		order.WriteString(c.Code)
	}
	if order.String() != "abcgo" {
		t.Fatalf("order %s", order.String())
	}
	a, b, c, g, o := got[0], got[1], got[2], got[3], got[4]
	if a.Status != UnderMaintenance || a.Shown != Operational || c.Status != DegradedPerformance ||
		g.Status != DegradedPerformance ||
		g.Shown != DegradedPerformance {
		t.Errorf("statuses %s %s %s %s", a.Status, a.Shown, c.Status, g.Status)
	}
	if len(g.Children) != 2 || g.Children[0] != "b" || g.Children[1] != "c" || b.QualifiedName() != "G - B" ||
		a.QualifiedName() != "A" || o.GroupCode.Valid || a.Children != nil {
		t.Errorf("children %v, names %s %s, group %q", g.Children, b.QualifiedName(), a.QualifiedName(), o.GroupCode.V)
	}
	by := DisplayOrder(got)
	if by(a, b) >= 0 || by(b, c) >= 0 || by(c, o) >= 0 || by(o, a) <= 0 || by(a, a) != 0 {
		t.Error("unexpected display order")
	}
}
