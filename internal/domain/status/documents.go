package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The documents of a page, by the ends of their paths.
const (
	SummaryDocument    = "summary.json"
	StatusDocument     = "status.json"
	ComponentsDocument = "components.json"
	IncidentsDocument  = "incidents.json"
	UnresolvedDocument = "incidents/unresolved.json"
	ScheduledDocument  = "scheduled-maintenances.json"
	UpcomingDocument   = "scheduled-maintenances/upcoming.json"
	ActiveDocument     = "scheduled-maintenances/active.json"
	mostListed         = 50 // what the two lists of all notices hold at most
	defaultZone        = "Etc/UTC"

	// LongestDocument is how many bytes a document of a page elsewhere may have.
	LongestDocument = 16 << 20
)

// What a document of a page elsewhere may list. Pages that people read have a hundredth of it.
const (
	mostComponents = 5_000
	mostNotices    = 5_000
	mostUpdates    = 50_000
)

// Documents returns the names of all documents, in the order in which they are described.
func Documents() []string {
	return []string{
		SummaryDocument, StatusDocument, ComponentsDocument, IncidentsDocument, UnresolvedDocument, ScheduledDocument, UpcomingDocument, ActiveDocument,
	}
}

// Copy is what the documents of a page elsewhere say.
type Copy struct {
	Page *Page
	// Components are all components and groups in their order, nil where no document lists them.
	Components []*Component
	Notices    []*CopiedNotice
	// Reach tells how far back the lists of all notices go, by kind. A kind is missing where its list was not given.
	Reach map[Kind]Reach
	// Warnings are what could not be understood, and what was made of it.
	Warnings []string
}

// CopiedNotice is a notice with what belongs to it.
type CopiedNotice struct {
	Notice
	Components []string  // codes
	Updates    []*Update // the newest first
}

// Reach is how far back a list of notices goes: a notice that is not in it although it would have a place there was deleted.
type Reach struct {
	All bool      // it has all there are
	To  time.Time // else, the instant of the last one; see [Notice.RecentAt]
}

// Covers tells whether the list would have a notice of this instant.
func (r Reach) Covers(recentAt time.Time) bool { return r.All || recentAt.After(r.To) }

// What documents hold.
type (
	pageDocument struct {
		Page        *pageObject       `json:"page"`
		Components  []componentObject `json:"components"`
		Incidents   []noticeObject    `json:"incidents"`
		Maintenance []noticeObject    `json:"scheduled_maintenances"`
	}
	pageObject struct {
		ID        string  `json:"id"`
		Name      string  `json:"name"`
		URL       string  `json:"url"`
		TimeZone  string  `json:"time_zone"`
		UpdatedAt instant `json:"updated_at"`
	}
	componentObject struct {
		ID                 string  `json:"id"`
		Name               string  `json:"name"`
		Status             string  `json:"status"`
		CreatedAt          instant `json:"created_at"`
		UpdatedAt          instant `json:"updated_at"`
		Position           int32   `json:"position"`
		Description        *string `json:"description"`
		Showcase           bool    `json:"showcase"`
		StartDate          *string `json:"start_date"`
		GroupID            *string `json:"group_id"`
		Group              bool    `json:"group"`
		OnlyShowIfDegraded bool    `json:"only_show_if_degraded"`
	}
	noticeObject struct {
		ID                string            `json:"id"`
		Name              string            `json:"name"`
		Status            string            `json:"status"`
		CreatedAt         instant           `json:"created_at"`
		UpdatedAt         instant           `json:"updated_at"`
		MonitoringAt      *instant          `json:"monitoring_at"`
		ResolvedAt        *instant          `json:"resolved_at"`
		Impact            string            `json:"impact"`
		Shortlink         string            `json:"shortlink"`
		StartedAt         *instant          `json:"started_at"`
		Updates           []updateObject    `json:"incident_updates"`
		Components        []componentObject `json:"components"`
		ReminderIntervals *string           `json:"reminder_intervals"`
		ScheduledFor      *instant          `json:"scheduled_for"`
		ScheduledUntil    *instant          `json:"scheduled_until"`
	}
	updateObject struct {
		ID                   string            `json:"id"`
		Status               string            `json:"status"`
		Body                 string            `json:"body"`
		CreatedAt            instant           `json:"created_at"`
		UpdatedAt            instant           `json:"updated_at"`
		DisplayAt            *instant          `json:"display_at"`
		Affected             *[]affectedObject `json:"affected_components"`
		DeliverNotifications bool              `json:"deliver_notifications"`
		CustomTweet          *string           `json:"custom_tweet"`
		TweetID              any               `json:"tweet_id"`
	}
	affectedObject struct {
		Code      string `json:"code"`
		Name      string `json:"name"`
		OldStatus string `json:"old_status"`
		NewStatus string `json:"new_status"`
	}
)

// instant is an instant in a document, whatever its offset and its decimals.
type instant struct{ Time time.Time }

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *instant) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return fmt.Errorf("%q is no instant", text)
	}
	i.Time = Milliseconds(t).UTC()
	if y := i.Time.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("%q is no instant of our calendar", text)
	}
	return nil
}

// bounded refuses documents that list more than any page has.
func (d *pageDocument) bounded() error {
	updates := 0
	for _, list := range [][]noticeObject{d.Incidents, d.Maintenance} {
		for i := range list {
			updates += len(list[i].Updates)
		}
	}
	for _, c := range []struct {
		what    string
		n, most int
	}{
		{"components", len(d.Components), mostComponents}, {"incidents", len(d.Incidents), mostNotices}, {"maintenances", len(d.Maintenance), mostNotices}, {"updates", updates, mostUpdates},
	} {
		if c.n > c.most {
			return fmt.Errorf("it has %d %s, and %d are read at most", c.n, c.what, c.most)
		}
	}
	return nil
}

// ReadDocuments reads the documents of one page, by the names of [Documents]; not all of them have to be given. A document that cannot be read at all is
// an error. What is in it that this page cannot have is replaced or left out, with a warning.
func ReadDocuments(documents map[string][]byte) (*Copy, error) {
	r := reader{copied: &Copy{Reach: map[Kind]Reach{}}, seen: map[string]bool{}, updates: map[string]bool{}}
	for _, name := range Documents() {
		text, given := documents[name]
		if !given {
			continue
		}
		if len(text) > LongestDocument {
			return nil, fmt.Errorf("%s is larger than %d MiB", name, LongestDocument>>20)
		}
		var d pageDocument
		if err := json.Unmarshal(text, &d); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if d.Page == nil {
			return nil, fmt.Errorf("reading %s: it has no page", name)
		}
		if err := d.bounded(); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if err := r.document(name, &d); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	if r.copied.Page == nil {
		return nil, errors.New("none of the documents of a page is there")
	}
	return r.copied, nil
}
