package statuspage

import (
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/status"
)

// TestPercent checks that only full uptime is rounded to 100.
func TestPercent(t *testing.T) {
	t.Parallel()
	for p, want := range map[float64]string{
		100: "100", 99.9999: "99.99", 99.5: "99.5", 99.123: "99.12", 0: "0",
		7.999: "8",
	} {
		if got := percent(p); got != want {
			t.Errorf("%v: got %s, want %s", p, got, want)
		}
	}
}

// TestUptimeOf checks that the chart always has 90 bars and that its description matches.
func TestUptimeOf(t *testing.T) {
	t.Parallel()
	v := uptimeOf("API", &status.Uptime{Percent: 99.999, Days: []*status.UptimeDay{
		{Date: "2026-05-16", Percent: 100, Worst: status.Operational},
		{
			Date: "2026-05-17", Percent: 98.6, Worst: status.MajorOutage, OutageSeconds: 3720, DegradedSeconds: 59,
			MaintenanceSeconds: 7200,
		},
	}})
	if len(v.Bars) != uptimeDays || v.Bars[87].State != "" || v.Bars[88].State != "operational" ||
		v.Bars[89].State != "major_outage" || v.Bars[89].X != 356 {
		t.Errorf("last bars: %+v", v.Bars[86:])
	}
	const bad = "17 May 2026: 98.6 % up, 1 h 2 min of major outage, 59 s of degraded performance, 2 h of maintenance"
	if len(v.Bad) != 1 || v.Bad[0] != bad {
		t.Errorf("bad days: %q", v.Bad)
	}
	if want := "API: 99.99 % uptime over 2 days, one of them with trouble"; v.Label != want {
		t.Errorf("label: %q", v.Label)
	}
	gaps := &status.Uptime{Percent: 100}
	for _, date := range []status.Date{"2026-02-17", "2026-03-01", "2026-05-17"} {
		gaps.Days = append(gaps.Days, &status.UptimeDay{Date: date, Worst: status.Operational})
	}
	v = uptimeOf("API", gaps)
	for i, b := range v.Bars {
		if known := i == 0 || i == 12 || i == 89; (b.State != "") != known || (b.Title == "No data") == known {
			t.Errorf("bar %d: %+v", i, b)
		}
	}
	if !strings.Contains(v.Label, "3 days, all of them without trouble") {
		t.Error(v.Label)
	}
}

// TestHeadline checks that the headline is the maximum of the rollup that documents have and of the open incidents.
func TestHeadline(t *testing.T) {
	t.Parallel()
	p := &pageData{EffectiveIndicator: status.ImpactMajor}
	p.Rollup.Indicator, p.Rollup.Description = status.ImpactNone, "All Systems Operational"
	if h := headlineOf(p); h.Indicator != status.ImpactMajor || h.Description != "Partial System Outage" {
		t.Errorf("%+v", h)
	}
	p.Rollup.Indicator, p.Rollup.Description = status.ImpactMinor, "Partially Degraded Service"
	if h := headlineOf(p); h.Indicator != status.ImpactMajor || h.Description != "Partial System Outage" {
		t.Errorf("a minor rollup hides a major incident: %+v", h)
	}
	p.Rollup.Indicator, p.Rollup.Description = status.ImpactCritical, "Major System Outage"
	if p.EffectiveIndicator = status.ImpactCritical; headlineOf(p).Description != "Major System Outage" {
		t.Errorf("%+v", headlineOf(p))
	}
	p.Rollup.Indicator, p.Rollup.Description = status.ImpactNone, "All Systems Operational"
	// documents decide whether maintenance has a status
	for _, i := range []status.Indicator{status.ImpactNone, status.ImpactMaintenance} {
		if p.EffectiveIndicator = i; headlineOf(p).Description != "All Systems Operational" {
			t.Errorf("%s: %+v", i, headlineOf(p))
		}
	}
}

// TestDays assigns notices to days in the time zone of the page, including days that are not 24 hours long.
func TestDays(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// Daylight saving time begins on 8 March.
	list := []notice{
		{Notice: status.Notice{Code: "late", CreatedAt: at("2026-03-08T03:30:00Z")}},
		{Notice: status.Notice{Code: "early", CreatedAt: at("2026-03-08T05:10:00Z")}},
		{Notice: status.Notice{Code: "last", CreatedAt: at("2026-03-09T03:59:00Z")}},
	}
	days := daysOf(noon(at("2026-03-11T01:00:00Z").In(zone)), noon(at("2026-03-06T12:00:00Z").In(zone)), list, true)
	var got []string
	for _, d := range days {
		text := d.Day.Format("01-02")
		if d.First != d.Day {
			text = d.First.Format("01-02 to ") + text
		}
		words := []string{text}
		for _, n := range d.Notices {
			words = append(words, n.Code)
		}
		got = append(got, strings.Join(words, " "))
	}
	if text := strings.Join(got, ", "); text != "03-09 to 03-10, 03-08 last early, 03-07 late, 03-06" {
		t.Errorf("days: %s", text)
	}
}

// TestBadge checks the widths of the halves and that texts are escaped.
func TestBadge(t *testing.T) {
	t.Parallel()
	svg, err := makeBadge(`A<b> & "c"`, strings.Repeat("long ", 40), status.ImpactMajor)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`aria-label="A&lt;b&gt; &amp; &#34;c&#34;: long `, "…</text>", "#ad430c"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("%s is missing in %s", want, svg)
		}
	}
}
