package status

import (
	"errors"
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/ledger"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, zone, want string }{
		{"2026-03-18T17:00:00Z", "Etc/UTC", "2026-03-18T17:00:00.000Z"},
		{"2026-03-18T17:00:00.1239+01:00", "America/New_York", "2026-03-18T12:00:00.123-04:00"},
		{"2026-03-18T17:00", "America/New_York", "2026-03-18T17:00:00.000-04:00"},
		{" 2026-01-18 17:00:05 ", "America/New_York", "2026-01-18T17:00:05.000-05:00"},
		{"2026-01-18 17:00:05.1239", "Asia/Kolkata", "2026-01-18T17:00:05.123+05:30"},
		{"2026-01-18 17:00", "Asia/Kolkata", "2026-01-18T17:00:00.000+05:30"},
		// the last second before the clock goes forward
		{"2026-03-08T01:59:59", "America/New_York", "2026-03-08T01:59:59.000-05:00"},
		{"2026-03-08T03:00", "America/New_York", "2026-03-08T03:00:00.000-04:00"},
		{"2026-03-08T02:30", "America/New_York", "does not exist"},
		{"2026-11-01T01:30", "America/New_York", "2026-11-01T01:30:00-04:00 or 2026-11-01T01:30:00-05:00"},
		{"2026-11-01T01:30:00-05:00", "America/New_York", "2026-11-01T01:30:00.000-05:00"},
		{"2026-11-01T02:00", "America/New_York", "2026-11-01T02:00:00.000-05:00"},
		{"2026-10-25T02:59", "Europe/Berlin", "occurs twice"},
		{"2026-03-29T02:00", "Europe/Berlin", "does not exist"},
		{"2011-12-30T12:00", "Pacific/Apia", "does not exist"}, // a whole day was skipped
		{"tomorrow", "Etc/UTC", "not a time such as"},
		{"2026-02-30T00:00", "Etc/UTC", "not a time such as"},
	} {
		got, err := ParseTime(c.text, zone(t, c.zone))
		text := string(AppendTime(nil, got))
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) || !got.Equal(Milliseconds(got)) {
			t.Errorf("%s in %s: %s (%s), want %s in milliseconds", c.text, c.zone, text, got, c.want)
		}
	}
}

func TestDueOf(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	maintenance := func(change func(*Notice)) *Notice {
		n := &Notice{
			Kind: Scheduled, State: Planned, ScheduledFor: ledger.Of(start),
			ScheduledUntil: ledger.Of(start.Add(time.Hour)), AutoInProgress: true,
			AutoCompleted: true,
		}
		if change != nil {
			change(n)
		}
		return n
	}
	incident := func(reminded time.Duration) *Notice {
		n := &Notice{Kind: Realtime, State: Identified, CreatedAt: start, ReminderIntervals: ledger.Of("[3, 6, 12]")}
		if reminded > 0 {
			n.RemindedAt = ledger.Of(start.Add(reminded))
		}
		return n
	}
	remind := func(n *Notice) { n.RemindMinutes = ledger.Of(int32(60)) }
	for name, c := range map[string]struct {
		n    *Notice
		at   time.Duration
		want Due
	}{
		"before the start":     {maintenance(nil), -time.Millisecond, NothingDue},
		"at the start":         {maintenance(nil), 0, StartDue},
		"after a missed end":   {maintenance(nil), 2 * time.Hour, StartDue},
		"not by itself":        {maintenance(func(n *Notice) { n.AutoInProgress = false }), 0, NothingDue},
		"before the end":       {maintenance(func(n *Notice) { n.State = InProgress }), time.Hour - 1, NothingDue},
		"at the end":           {maintenance(func(n *Notice) { n.State = InProgress }), time.Hour, EndDue},
		"at the end of checks": {maintenance(func(n *Notice) { n.State = Verifying }), time.Hour, EndDue},
		"does not end by itself": {maintenance(func(n *Notice) {
			n.State, n.AutoCompleted = Verifying, false
		}), time.Hour, NothingDue},
		"over":     {maintenance(func(n *Notice) { n.State = Completed }), time.Hour, NothingDue},
		"draft":    {maintenance(func(n *Notice) { n.Draft = true }), 0, NothingDue},
		"reminder": {maintenance(remind), -time.Hour, ReminderDue},
		"announced after the time of the reminder": {maintenance(func(n *Notice) {
			remind(n)
			n.CreatedAt = start.Add(-time.Hour + 1)
		}), -time.Minute, NothingDue},
		"before the reminder": {maintenance(remind), -time.Hour - 1, NothingDue},
		"reminded": {maintenance(func(n *Notice) {
			remind(n)
			n.RemindedAt = ledger.Of(start)
		}), -time.Hour, NothingDue},
		"a reminder that was missed": {maintenance(func(n *Notice) {
			remind(n)
			n.AutoInProgress = false
		}), 0, NothingDue},
		"an incident is young":    {incident(0), 3*time.Hour - 1, NothingDue},
		"an incident is old":      {incident(0), 3 * time.Hour, IncidentReminder},
		"an incident is reminded": {incident(3 * time.Hour), 6*time.Hour - 1, NothingDue},
		"an incident is older":    {incident(3 * time.Hour), 6 * time.Hour, IncidentReminder},
		"reminders were missed":   {incident(7 * time.Hour), 8 * time.Hour, NothingDue},
		"all reminders were sent": {incident(12 * time.Hour), 99 * time.Hour, NothingDue},
	} {
		if got := DueOf(c.n, start.Add(c.at)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	manual := maintenance(func(n *Notice) { n.AutoInProgress, n.AutoCompleted = false, false })
	if manual.Overdue(start) || !manual.Overdue(start.Add(1)) || maintenance(nil).Overdue(start.Add(1)) {
		t.Error("overdue")
	}
	if manual.State = Verifying; manual.Overdue(start.Add(time.Hour)) || !manual.Overdue(start.Add(2*time.Hour)) {
		t.Error("overdue at the end")
	}
}

func TestParseTokens(t *testing.T) {
	t.Parallel()
	const secret = "correct-horse-battery"
	got, err := ParseTokens("ann:admin:" + secret + ", bob:reporter:with:colons-in-it-x,")
	if err != nil || len(got) != 2 || got[0].Role != Admin || got[1].Name != "bob" ||
		FindToken(got, "with:colons-in-it-x") != got[1] || FindToken(got, secret) != got[0] {
		t.Errorf("%v, %v", got, err)
	}
	for text, words := range map[string]string{
		"ann:" + secret: "name:role:token", ":admin:" + secret: "name:role:token", "ann:king:" + secret: "role",
		"ann:admin:short": "16 characters",
		"ann:admin:" + secret + ",ann:viewer:" + secret + "2": "another",
		"ann:admin:" + secret + ",bob:viewer:" + secret:       "another",
	} {
		if _, err := ParseTokens(text); err == nil || !strings.Contains(err.Error(), words) ||
			strings.Contains(err.Error(), "horse") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got, err := ParseTokens(""); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if !Admin.May(Viewer) || Viewer.May(Reporter) || Role("king").May(Viewer) || !Operator.May(Operator) {
		t.Error("roles")
	}
	if a, b := NewToken(), NewToken(); a == b || len(a) < 40 {
		t.Errorf("tokens %q and %q", a, b)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	b := NewWorkingCopy(&Page{Slug: "p"}, []*Component{
		{Code: "g1", Name: "Mainnet", IsGroup: true, Position: 1},
		{Code: "g2", Name: "Testnet", IsGroup: true, Position: 2},
		{Code: "empty", Name: "Empty", IsGroup: true, Position: 3},
		{Code: "a", Name: "API", GroupCode: ledger.Of("g1"), Position: 1, BaseStatus: Operational},
		{Code: "b", Name: "API", GroupCode: ledger.Of("g2"), Position: 1, BaseStatus: Operational},
		{Code: "c", Name: "Web", Position: 4, BaseStatus: Operational},
	}, nil)
	for ref, want := range map[string]string{
		"a": "a", "Web": "c", "Testnet/API": "b", "Mainnet": "g1",
		"Empty": "empty", "API": "a (Mainnet - API), b (Testnet - API)", "Nothing": "does not exist",
		"Web/API": "does not exist",
	} {
		c, err := b.Find(ref)
		switch {
		case err == nil && c.Code == want:
		case err != nil && strings.Contains(err.Error(), want):
			var r *Error
			if !errors.As(err, &r) {
				t.Errorf("%s: %v is no refusal", ref, err)
			}
		default:
			t.Errorf("%s: %v, %v; want %s", ref, c, err, want)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Lantern Net": "lantern-net", "  A--b! ": "a-b", "日本": "status",
		strings.Repeat("ab ", 40): strings.Repeat("ab-", 20) + "ab",
	} {
		if got := Slug(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
