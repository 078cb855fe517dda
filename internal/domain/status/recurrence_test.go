package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/teambition/rrule-go"

	"heliograph/internal/domain/status"
)

func TestOccurrences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, start, rule, want string }{
		{"Etc/UTC", "2026-05-17T09:00:00Z", "FREQ=DAILY;COUNT=3", "05-17 09:00 05-18 09:00 05-19 09:00"},
		{
			"Etc/UTC", "2026-05-17T09:00:00Z", "FREQ=DAILY;INTERVAL=2;UNTIL=20260521",
			"05-17 09:00 05-19 09:00 05-21 09:00",
		},
		{
			"Etc/UTC", "2026-05-19T09:00:00Z", "rrule:freq=weekly;byday=tu,th;count=4",
			"05-19 09:00 05-21 09:00 05-26 09:00 05-28 09:00",
		},
		{
			"Etc/UTC", "2026-05-19T09:00:00Z", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;COUNT=3",
			"05-19 09:00 06-01 09:00 06-15 09:00",
		},
		{"Etc/UTC", "2026-05-19T09:00:00Z", "FREQ=DAILY;BYDAY=SA,SU;COUNT=3", "05-19 09:00 05-23 09:00 05-24 09:00"},
		// shorter months have no such day
		{"Etc/UTC", "2026-01-31T09:00:00Z", "FREQ=MONTHLY;COUNT=3", "01-31 09:00 03-31 09:00 05-31 09:00"},
		{
			"Etc/UTC", "2026-01-31T09:00:00Z", "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3",
			"01-31 09:00 02-28 09:00 03-31 09:00",
		},
		{"Etc/UTC", "2026-05-05T09:00:00Z", "FREQ=MONTHLY;BYDAY=1TU;COUNT=3", "05-05 09:00 06-02 09:00 07-07 09:00"},
		{
			"Etc/UTC", "2026-05-29T09:00:00Z", "FREQ=MONTHLY;BYDAY=-1FR;UNTIL=20260731T090000Z",
			"05-29 09:00 06-26 09:00 07-31 09:00",
		},
		{"Etc/UTC", "2026-05-29T09:00:00Z", "FREQ=MONTHLY;COUNT=1", "05-29 09:00"},
		// The clock goes forward on 8 March 2026 and back on 1 November: the wall time stays.
		{"America/New_York", "2026-03-07T09:00:00-05:00", "FREQ=DAILY;COUNT=3", "03-07 14:00 03-08 13:00 03-09 13:00"},
		// 02:30 is skipped: 03:30
		{"America/New_York", "2026-03-07T02:30:00-05:00", "FREQ=DAILY;COUNT=3", "03-07 07:30 03-08 07:30 03-09 06:30"},
		// 01:30 occurs twice: the first is used
		{"America/New_York", "2026-10-31T01:30:00-04:00", "FREQ=DAILY;COUNT=3", "10-31 05:30 11-01 05:30 11-02 06:30"},
		// starts at the second 01:30
		{"America/New_York", "2026-11-01T01:30:00-05:00", "FREQ=DAILY;COUNT=2", "11-01 06:30 11-02 06:30"},
		// 02:00 is skipped: 03:00
		{"Europe/Berlin", "2026-03-22T02:00:00+01:00", "FREQ=WEEKLY;COUNT=3", "03-22 01:00 03-29 01:00 04-05 00:00"},
		// 02:59 occurs twice
		{"Europe/Berlin", "2026-10-24T02:59:59+02:00", "FREQ=DAILY;COUNT=3", "10-24 00:59 10-25 00:59 10-26 01:59"},
		// the clock skips half an hour
		{
			"Australia/Lord_Howe", "2026-10-03T02:15:00+10:30", "FREQ=DAILY;COUNT=3",
			"10-02 15:45 10-03 15:45 10-04 15:15",
		},
		// the 30th was skipped
		{"Pacific/Apia", "2011-12-29T12:00:00-10:00", "FREQ=DAILY;COUNT=3", "12-29 22:00 12-30 22:00 12-31 22:00"},
		// Tuesday there, Monday in UTC
		{"Asia/Kolkata", "2026-05-19T00:30:00+05:30", "FREQ=WEEKLY;BYDAY=TU;COUNT=2", "05-18 19:00 05-25 19:00"},
		{
			"America/New_York", "2026-10-31T23:00:00-04:00", "FREQ=MONTHLY;UNTIL=20270101T040000Z",
			"11-01 03:00 01-01 04:00",
		},
		// UNTIL in the zone of the page
		{
			"America/New_York", "2026-10-25T09:00:00-04:00", "FREQ=WEEKLY;UNTIL=20261101T090000",
			"10-25 13:00 11-01 14:00",
		},
		{"Etc/UTC", "2026-02-28T09:00:00Z", "FREQ=MONTHLY;BYDAY=MO;COUNT=3", "02-28 09:00 03-02 09:00 03-09 09:00"},
		{
			"Etc/UTC", "2026-05-19T09:00:00Z", "FREQ=MONTHLY;BYDAY=1MO,3WE;COUNT=4",
			"05-19 09:00 05-20 09:00 06-01 09:00 06-17 09:00",
		},
		{
			"Etc/UTC", "2027-12-31T09:00:00Z", "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=1,-1;COUNT=3",
			"12-31 09:00 02-01 09:00 02-29 09:00",
		},
		// Calendars export these forms. The second example of RFC 5545 for WKST differs from the first in the days,
		// because weeks begin on Sunday.
		{"Etc/UTC", "2026-05-19T09:00:00Z", "FREQ=WEEKLY;BYDAY=TU;COUNT=2;", "05-19 09:00 05-26 09:00"},
		{"Etc/UTC", "2026-05-19T09:00:00Z", "RRULE:FREQ=WEEKLY;WKST=MO;COUNT=2;BYDAY=TU;", "05-19 09:00 05-26 09:00"},
		{
			"America/New_York", "1997-08-05T09:00:00-04:00", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
			"08-05 13:00 08-10 13:00 08-19 13:00 08-24 13:00",
		},
		{
			"America/New_York", "1997-08-05T09:00:00-04:00", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
			"08-05 13:00 08-17 13:00 08-19 13:00 08-31 13:00",
		},
		{"Etc/UTC", "2026-05-05T09:00:00Z", "FREQ=MONTHLY;BYDAY=+1TU;COUNT=2", "05-05 09:00 06-02 09:00"},
		{
			"Etc/UTC", "2026-05-05T09:00:00Z", "FREQ=MONTHLY;BYMONTHDAY=+5,-1;COUNT=3",
			"05-05 09:00 05-31 09:00 06-05 09:00",
		},
		{"Etc/UTC", "2026-05-17T09:00:00Z", "FREQ=DAILY;UNTIL=20260517", "05-17 09:00"},
		{"Etc/UTC", "2026-05-17T09:00:00Z", "FREQ=DAILY;UNTIL=20260517T090000Z", "05-17 09:00"},
		{
			"America/New_York", "2026-10-25T09:00:00-04:00", "FREQ=WEEKLY;UNTIL=2026-11-08",
			"10-25 13:00 11-01 14:00 11-08 14:00",
		},
	} {
		zone, err := status.LoadZone(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		start, err := time.Parse(time.RFC3339, c.start)
		if err != nil {
			t.Fatal(err)
		}
		list, err := status.Occurrences(c.rule, start.In(zone))
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		var got []string
		for _, at := range list {
			got = append(got, at.UTC().Format("01-02 15:04"))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s from %s: %s, want %s", c.rule, c.start, text, c.want)
		}
	}
	for rule, reason := range map[string]string{
		"":                                   "FREQ=: it must be DAILY",
		";":                                  "FREQ=: it must be DAILY",
		"COUNT=2":                            "FREQ is missing",
		"FREQ":                               "FREQ: it must be DAILY",
		"FREQ=YEARLY;COUNT=2":                "FREQ=YEARLY: it must be DAILY",
		"FREQ=HOURLY;COUNT=2":                "FREQ=HOURLY: it must be DAILY",
		"FREQ=DAILY\nCOUNT=2":                "it must be DAILY",
		"FREQ=DAILY":                         "either COUNT or UNTIL",
		"FREQ=DAILY;COUNT=2;UNTIL=20270101":  "either COUNT or UNTIL",
		"FREQ=DAILY;COUNT=0":                 "COUNT=0: it must be a number from 1 to 60",
		"FREQ=DAILY;COUNT=61":                "COUNT=61: it must",
		"FREQ=DAILY;COUNT=-1":                "COUNT=-1: it must",
		"FREQ=DAILY;COUNT=+1":                "COUNT=+1: it must",
		"FREQ=DAILY;COUNT= 1":                "COUNT= 1: it must",
		"FREQ=DAILY;COUNT":                   "COUNT: it must",
		"FREQ=DAILY;COUNT=99999999999":       "COUNT=99999999999: it must",
		"FREQ=DAILY;COUNT=2;COUNT=3":         "COUNT is given twice",
		"FREQ=DAILY;UNTIL=20300101":          "more than 60 occurrences",
		"FREQ=DAILY;;COUNT=2":                ": : rules have FREQ",
		"FREQ=DAILY;INTERVAL=0;COUNT=2":      "INTERVAL=0: it must be a number from 1 to 365",
		"FREQ=DAILY;INTERVAL=-1;COUNT=2":     "INTERVAL=-1: it must",
		"FREQ=DAILY;INTERVAL=366;COUNT=2":    "INTERVAL=366: it must",
		"FREQ=WEEKLY;BYDAY=1TU;COUNT=2":      "require FREQ=MONTHLY",
		"FREQ=DAILY;BYMONTHDAY=1;COUNT=2":    "require FREQ=MONTHLY",
		"FREQ=WEEKLY;BYDAY=XX;COUNT=2":       "BYDAY=XX: days are MO",
		"FREQ=WEEKLY;BYDAY=;COUNT=2":         "BYDAY=: days are MO",
		"FREQ=WEEKLY;BYDAY=M;COUNT=2":        "BYDAY=M: days are MO",
		"FREQ=WEEKLY;BYDAY=MO, TU;COUNT=2":   "numbers are 1 to 5",
		"FREQ=WEEKLY;BYDAY=0MO;COUNT=2":      "their numbers are 1 to 5",
		"FREQ=MONTHLY;BYDAY=0MO;COUNT=2":     "their numbers are 1 to 5",
		"FREQ=MONTHLY;BYDAY=-0MO;COUNT=2":    "numbers are 1 to 5",
		"FREQ=MONTHLY;BYDAY=00MO;COUNT=2":    "numbers are 1 to 5",
		"FREQ=MONTHLY;BYDAY=99MO;COUNT=2":    "numbers are 1 to 5",
		"FREQ=MONTHLY;BYDAY=6MO;COUNT=2":     "numbers are 1 to 5",
		"FREQ=MONTHLY;BYDAY=--1MO;COUNT=2":   "numbers are 1 to 5",
		"FREQ=MONTHLY;BYDAY=+-1MO;COUNT=2":   "numbers are 1 to 5",
		"FREQ=MONTHLY;BYDAY=1 MO;COUNT=2":    "numbers are 1 to 5",
		"FREQ=MONTHLY;BYDAY=TU,0MO;COUNT=2":  "numbers are 1 to 5",
		"FREQ=MONTHLY;BYMONTHDAY=0;COUNT=2":  "BYMONTHDAY=0: numbers are 1 to 31",
		"FREQ=MONTHLY;BYMONTHDAY=32;COUNT=2": "numbers are 1 to 31",
		"FREQ=MONTHLY;BYMONTHDAY=;COUNT=2":   "numbers are 1 to 31",
		"FREQ=MONTHLY;BYMONTHDAY=31;INTERVAL=12;COUNT=3;BYSETPOS=1": "BYSETPOS=1: rules have FREQ",
		"FREQ=DAILY;BYHOUR=3;COUNT=2":                               "BYHOUR=3: rules have FREQ",
		"FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=MO;COUNT=2":                "both BYDAY and BYMONTHDAY",
		"FREQ=WEEKLY;WKST=XX;COUNT=2":                               "WKST=XX: it must be a day",
		"FREQ=WEEKLY;WKST=1MO;COUNT=2":                              "WKST=1MO: it must be a day",
		"FREQ=DAILY;UNTIL=soon":                                     "UNTIL=SOON: it must be a date",
		"FREQ=DAILY;UNTIL=":                                         "UNTIL=: it must be a date",
		"FREQ=DAILY;UNTIL=20260131":                                 "UNTIL is before the first occurrence",
		"FREQ=DAILY;UNTIL=20260201T085959Z":                         "UNTIL is before the first occurrence",
		"DTSTART:20260201T090000Z\nRRULE:FREQ=DAILY;COUNT=2":        "rules have FREQ",
	} {
		list, err := status.Occurrences(rule, time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC))
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: got %v, %v, want a reason with %q", rule, list, err, reason)
		}
	}
	// A day that never comes must not be looked for for ever.
	if list, err := status.Occurrences(
		"FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=30;COUNT=2", time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC),
	); err == nil {
		t.Errorf("30 February: %v", list)
	}
}

// FuzzOccurrences compares rules that are accepted with the library's own parser: it gives the same days, or the rule
// has a form that it does not read.
func FuzzOccurrences(f *testing.F) {
	for _, rule := range []string{
		"FREQ=DAILY;COUNT=3", "RRULE:FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4;WKST=SU;",
		"FREQ=MONTHLY;BYDAY=-1FR,+2MO;UNTIL=20271231",
		"FREQ=MONTHLY;BYMONTHDAY=1,-1;INTERVAL=2;COUNT=60",
	} {
		f.Add(rule)
	}
	start := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, rule string) {
		times, err := status.Occurrences(rule, start)
		if err != nil {
			return
		}
		option, err := rrule.StrToROption(
			strings.TrimSuffix(strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(rule)), "RRULE:"), ";"),
		)
		if err != nil || !option.Until.IsZero() {
			return
		}
		option.Count, option.Dtstart = 0, start
		r, err := rrule.NewRRule(*option)
		if err != nil {
			t.Fatalf("%q: %v", rule, err)
		}
		next := r.Iterator()
		for i, at := range times {
			if i == 0 {
				continue // the start need not be an occurrence of the rule
			}
			day, _ := next()
			if day.Equal(start) {
				day, _ = next()
			}
			if !day.Equal(at) {
				t.Errorf("%q: %v, the library has %v", rule, at, day)
			}
		}
	})
}
