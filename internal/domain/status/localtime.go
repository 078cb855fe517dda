package status

import (
	"strings"
	"time"
)

// localLayouts are the layouts of local times.
var localLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

// ParseTime parses an instant in RFC 3339, or a local time in a zone. It fails if the clock of the zone skips the local time, or shows it twice: then an
// offset is necessary.
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
			return time.Time{}, Errorf(BadInput, "%s does not exist in %s, where the clock skips it: use another time, or give the offset", text, zone)
		default:
			return time.Time{}, Errorf(BadInput, "%s occurs twice in %s: use %s or %s", text, zone, found[0].Format(time.RFC3339), found[1].Format(time.RFC3339))
		}
	}
	return time.Time{}, Errorf(BadInput, "%q is not a time such as 2026-01-31T12:00, in the zone of the page, or 2026-01-31T12:00:00Z", text)
}

// instants returns the instants at which the clock of a zone shows a wall time, which is given in UTC; earliest first. There are none if the clock skips it.
func instants(wall time.Time, zone *time.Location) []time.Time {
	var found []time.Time
	for _, around := range []time.Time{wall.Add(-36 * time.Hour), wall.Add(36 * time.Hour)} { // before and after a change of the clock
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
