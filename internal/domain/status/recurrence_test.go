package status_test

import (
	"strings"
	"testing"
	"time"

	"heliograph/internal/domain/status"
)

func TestOccurrences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, start, rule, want string }{
		{"Etc/UTC", "2026-05-17T09:00:00Z", "FREQ=DAILY;COUNT=3", "05-17 09:00 05-18 09:00 05-19 09:00"},
		{"Etc/UTC", "2026-05-17T09:00:00Z", "FREQ=DAILY;INTERVAL=2;UNTIL=20260521", "05-17 09:00 05-19 09:00 05-21 09:00"},
		{"Etc/UTC", "2026-05-19T09:00:00Z", "rrule:freq=weekly;byday=tu,th;count=4", "05-19 09:00 05-21 09:00 05-26 09:00 05-28 09:00"},
		{"Etc/UTC", "2026-05-19T09:00:00Z", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;COUNT=3", "05-19 09:00 06-01 09:00 06-15 09:00"},
		{"Etc/UTC", "2026-05-19T09:00:00Z", "FREQ=DAILY;BYDAY=SA,SU;COUNT=3", "05-19 09:00 05-23 09:00 05-24 09:00"},
		{"Etc/UTC", "2026-01-31T09:00:00Z", "FREQ=MONTHLY;COUNT=3", "01-31 09:00 03-31 09:00 05-31 09:00"}, // shorter months have no such day
		{"Etc/UTC", "2026-01-31T09:00:00Z", "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", "01-31 09:00 02-28 09:00 03-31 09:00"},
		{"Etc/UTC", "2026-05-05T09:00:00Z", "FREQ=MONTHLY;BYDAY=1TU;COUNT=3", "05-05 09:00 06-02 09:00 07-07 09:00"},
		{"Etc/UTC", "2026-05-29T09:00:00Z", "FREQ=MONTHLY;BYDAY=-1FR;UNTIL=20260731T090000Z", "05-29 09:00 06-26 09:00 07-31 09:00"},
		{"Etc/UTC", "2026-05-29T09:00:00Z", "FREQ=MONTHLY;COUNT=1", "05-29 09:00"},
		// The clock goes forward on 8 March 2026 and back on 1 November: the wall time stays.
		{"America/New_York", "2026-03-07T09:00:00-05:00", "FREQ=DAILY;COUNT=3", "03-07 14:00 03-08 13:00 03-09 13:00"},
		{"America/New_York", "2026-03-07T02:30:00-05:00", "FREQ=DAILY;COUNT=3", "03-07 07:30 03-08 07:30 03-09 06:30"},    // 02:30 is skipped: 03:30
		{"America/New_York", "2026-10-31T01:30:00-04:00", "FREQ=DAILY;COUNT=3", "10-31 05:30 11-01 05:30 11-02 06:30"},    // 01:30 occurs twice: the first is used
		{"America/New_York", "2026-11-01T01:30:00-05:00", "FREQ=DAILY;COUNT=2", "11-01 06:30 11-02 06:30"},                // starts at the second 01:30
		{"Europe/Berlin", "2026-03-22T02:00:00+01:00", "FREQ=WEEKLY;COUNT=3", "03-22 01:00 03-29 01:00 04-05 00:00"},      // 02:00 is skipped: 03:00
		{"Europe/Berlin", "2026-10-24T02:59:59+02:00", "FREQ=DAILY;COUNT=3", "10-24 00:59 10-25 00:59 10-26 01:59"},       // 02:59 occurs twice
		{"Australia/Lord_Howe", "2026-10-03T02:15:00+10:30", "FREQ=DAILY;COUNT=3", "10-02 15:45 10-03 15:45 10-04 15:15"}, // the clock skips half an hour
		{"Pacific/Apia", "2011-12-29T12:00:00-10:00", "FREQ=DAILY;COUNT=3", "12-29 22:00 12-30 22:00 12-31 22:00"},        // the 30th was skipped
		{"Asia/Kolkata", "2026-05-19T00:30:00+05:30", "FREQ=WEEKLY;BYDAY=TU;COUNT=2", "05-18 19:00 05-25 19:00"},          // Tuesday there, Monday in UTC
		{"America/New_York", "2026-10-31T23:00:00-04:00", "FREQ=MONTHLY;UNTIL=20270101T040000Z", "11-01 03:00 01-01 04:00"},
		{"America/New_York", "2026-10-25T09:00:00-04:00", "FREQ=WEEKLY;UNTIL=20261101T090000", "10-25 13:00 11-01 14:00"}, // UNTIL in the zone of the page
		{"Etc/UTC", "2026-02-28T09:00:00Z", "FREQ=MONTHLY;BYDAY=MO;COUNT=3", "02-28 09:00 03-02 09:00 03-09 09:00"},
		{"Etc/UTC", "2026-05-19T09:00:00Z", "FREQ=MONTHLY;BYDAY=1MO,3WE;COUNT=4", "05-19 09:00 05-20 09:00 06-01 09:00 06-17 09:00"},
		{"Etc/UTC", "2027-12-31T09:00:00Z", "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=1,-1;COUNT=3", "12-31 09:00 02-01 09:00 02-29 09:00"},
		{"America/New_York", "2026-10-25T09:00:00-04:00", "FREQ=WEEKLY;UNTIL=2026-11-08", "10-25 13:00 11-01 14:00 11-08 14:00"},
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
	for _, rule := range []string{
		"", "FREQ=YEARLY;COUNT=2", "FREQ=DAILY", "FREQ=DAILY;COUNT=2;UNTIL=20270101", "FREQ=DAILY;COUNT=0", "FREQ=DAILY;COUNT=61",
		"FREQ=DAILY;UNTIL=20300101", "FREQ=DAILY;COUNT=2;COUNT=3", "FREQ=WEEKLY;BYDAY=1TU;COUNT=2", "FREQ=WEEKLY;BYDAY=XX;COUNT=2",
		"FREQ=DAILY;BYMONTHDAY=1;COUNT=2", "FREQ=MONTHLY;BYMONTHDAY=0;COUNT=2", "FREQ=DAILY;INTERVAL=0;COUNT=2",
		"FREQ=DAILY;INTERVAL=-1;COUNT=2", "FREQ=DAILY;INTERVAL=366;COUNT=2", "FREQ=DAILY;COUNT=-1", "FREQ=HOURLY;COUNT=2",
		"FREQ=DAILY;BYHOUR=3;COUNT=2", "FREQ=DAILY;COUNT", "FREQ=WEEKLY;BYDAY=;COUNT=2", "FREQ=MONTHLY;BYMONTHDAY=32;COUNT=2",
		"FREQ=MONTHLY;BYDAY=99MO;COUNT=2", "FREQ=DAILY\nCOUNT=2", "COUNT=2", "FREQ=DAILY;UNTIL=soon",
		"FREQ=MONTHLY;BYMONTHDAY=31;INTERVAL=12;COUNT=3;BYSETPOS=1", "FREQ=MONTHLY;BYMONTHDAY=1;BYDAY=MO;COUNT=2",
	} {
		if list, err := status.Occurrences(rule, time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)); err == nil {
			t.Errorf("%q: got %v", rule, list)
		}
	}
	// A day that never comes must not be looked for for ever.
	if list, err := status.Occurrences("FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=30;COUNT=2", time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)); err == nil {
		t.Errorf("30 February: %v", list)
	}
}
