package status

import (
	"strings"
	"time"
)

// localLayouts are the forms of local times.
var localLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// ParseTime reads an instant that somebody typed: RFC 3339, or the local time of a zone. A local time that the zone's clock skips or shows twice is refused:
// it needs its offset.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return Milliseconds(t).In(zone), nil
	}
	for _, layout := range localLayouts {
		wall, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		switch found := instants(wall, zone); len(found) {
		case 1:
			return found[0], nil
		case 0:
			return time.Time{}, Refuse(BadInput, "%s does not exist in %s, where the clock skips it: choose another time, or give the offset", text, zone)
		default:
			return time.Time{}, Refuse(BadInput, "%s comes twice in %s: say %s or %s", text, zone, found[0].Format(time.RFC3339), found[1].Format(time.RFC3339))
		}
	}
	return time.Time{}, Refuse(BadInput, "%q is no time such as 2026-01-31T12:00, in the zone of the page, or 2026-01-31T12:00:00Z", text)
}

// instants are those at which the clock of a zone shows a wall time, which is given in UTC; the earliest first. There is none where the clock skips it.
func instants(wall time.Time, zone *time.Location) []time.Time {
	var found []time.Time
	for _, around := range []time.Time{wall.Add(-36 * time.Hour), wall.Add(36 * time.Hour)} { // before and after any change of the clock that matters
		_, offset := around.In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		_, there := t.Zone()
		if there == offset && (len(found) == 0 || !found[0].Equal(t)) {
			found = append(found, t)
		}
	}
	if len(found) == 2 && found[1].Before(found[0]) {
		found[0], found[1] = found[1], found[0]
	}
	return found
}
