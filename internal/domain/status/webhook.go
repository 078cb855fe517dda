package status

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"heliograph/internal/base/list"
)

// maxWebhookURL is the maximum length of the URL of a webhook, in bytes.
const maxWebhookURL = 2000

// Check fails with [BadInput] if the URL of a new webhook is invalid, and with [NotFound] if a component or group is
// not on the page of w. It sends nothing.
func (in *NewWebhook) Check(w *WorkingCopy) error {
	err := badIf(!IsWebURL(in.URL, true) || len(in.URL) > maxWebhookURL,
		"%q is not a URL of a webhook: use http or https, without user and fragment, at most %d bytes", in.URL,
		maxWebhookURL)
	for _, code := range in.Components {
		err = cmp.Or(err, FailIf(w.Component(code) == nil, NotFound, "component %s does not exist", code))
	}
	return err
}

// Secrets of webhooks have the form of Standard Webhooks: a prefix and 32 random bytes in Base64.
const (
	webhookPrefix      = "whsec_"
	webhookSecretBytes = 32
)

// WebhookSecretOverlap is how long messages are also signed with the previous secret after it was replaced.
const WebhookSecretOverlap = 24 * time.Hour

// NewWebhookSecret returns a new random key, which is stored, and the key as text for the receiver. It does not
// store it.
func NewWebhookSecret() (key []byte, text string) {
	key = randomBytes(webhookSecretBytes)
	return key, webhookPrefix + base64.StdEncoding.EncodeToString(key)
}

// Delivery is a message to a webhook.
type Delivery struct {
	ID      int64  // in the outbox
	Message string // id for the receiver, the same in each attempt
	Webhook string // code
	URL     string
	Keys    [][]byte // the current key and, for a day, the previous one
	Body    []byte
	// Failures is the number of attempts that have failed since the last success.
	Failures int32
}

// Signature returns the value of the header webhook-signature (Standard Webhooks): an HMAC-SHA256 over message ID,
// time in seconds since 1970 and body for each key, separated by spaces.
func (d *Delivery) Signature(at time.Time) string {
	signatures := make([]string, len(d.Keys))
	for i, key := range d.Keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%d.%s", d.Message, at.Unix(), d.Body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}

// WebhookDelay returns the delay until the next attempt after a number of failures in a row, or false if the webhook
// has to be disabled. 0 failures count as one. All attempts take about sixteen hours.
func WebhookDelay(failures int32) (time.Duration, bool) {
	delays := []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
		2 * time.Hour, 4 * time.Hour, 8 * time.Hour,
	}
	if int(failures) > len(delays) {
		return 0, false
	}
	return delays[max(failures, 1)-1], true
}

// The content of messages: that of the common status page API, in which incidents and components are those of
// documents.
type (
	messageObject struct {
		Meta      messageMeta      `json:"meta"`
		Page      messagePage      `json:"page"`
		Incident  *messageIncident `json:"incident,omitempty"`
		Update    *messageChange   `json:"component_update,omitempty"`
		Component *componentObject `json:"component,omitempty"`
	}
	messageMeta struct {
		Unsubscribe   string  `json:"unsubscribe"`
		Documentation string  `json:"documentation"`
		GeneratedAt   instant `json:"generated_at"`
	}
	messagePage struct {
		ID          string    `json:"id"`
		Indicator   Indicator `json:"status_indicator"`
		Description string    `json:"status_description"`
	}
	messageIncident struct {
		noticeObject

		PageID         string  `json:"page_id"`
		Backfilled     bool    `json:"backfilled"`
		ImpactOverride *Impact `json:"impact_override"`
	}
	messageChange struct {
		ID          string  `json:"id"`
		ComponentID string  `json:"component_id"`
		CreatedAt   instant `json:"created_at"`
		OldStatus   string  `json:"old_status"`
		NewStatus   string  `json:"new_status"`
	}
)

// MarshalText implements encoding.TextMarshaler: RFC 3339 with milliseconds, in the zone of the instant. The error is
// always nil.
func (i instant) MarshalText() ([]byte, error) {
	return time.Time(i).AppendFormat(nil, "2006-01-02T15:04:05.000Z07:00"), nil
}

// Message is a message to the webhooks of a page. Webhooks for components get it if one of Components is among theirs.
type Message struct {
	Components []string
	content    messageObject
}

// Content returns the object to send as JSON. It sets the time at which it was generated in m, so calls must not be
// concurrent.
func (m *Message) Content(at time.Time) any {
	m.content.Meta.GeneratedAt = instant(at)
	return m.content
}

// message returns a new message with the common part of all messages about components, which are given by their codes.
// It is also sent to webhooks of their groups. The caller adds the content: a notice, or a component and its change.
func (s *PageState) message(components []string) *Message {
	rollup := s.ShownRollup()
	m := &Message{Components: components, content: messageObject{
		Meta: messageMeta{Unsubscribe: s.Page.URL + "/#subscribe", Documentation: s.Page.URL + "/#subscribe"},
		Page: messagePage{s.Page.Code, rollup.Indicator, rollup.Description},
	}}
	for _, code := range components {
		if c := s.Component(code); c != nil && c.GroupCode.Valid {
			m.Components = append(m.Components, c.GroupCode.V)
		}
	}
	return m
}

// NoticeMessage returns the message about an update of a notice. n.Updates must be newest first, which is unusual in a
// [NoticeState]. Components that do not exist any more are omitted.
func (s *PageState) NoticeMessage(n *NoticeState) *Message {
	o := &messageIncident{
		PageID: s.Page.Code, Backfilled: n.Notice.Backfilled,
		ImpactOverride: n.Notice.ImpactOverride.Pointer(), noticeObject: noticeObject{
			ID: n.Notice.Code, Name: n.Notice.Name, Status: string(n.Notice.State),
			CreatedAt:    instant(n.Notice.CreatedAt),
			UpdatedAt:    instant(n.Notice.UpdatedAt),
			MonitoringAt: (*instant)(n.Notice.MonitoringAt.Pointer()),
			ResolvedAt:   (*instant)(n.Notice.ResolvedAt.Pointer()),
			Impact:       string(n.Notice.Impact),
			Shortlink:    n.Notice.Shortlink, StartedAt: new(instant(n.Notice.StartedAt)),
			ReminderIntervals: n.Notice.ReminderIntervals.Pointer(),
			ScheduledFor:      (*instant)(n.Notice.ScheduledFor.Pointer()),
			ScheduledUntil:    (*instant)(n.Notice.ScheduledUntil.Pointer()),
			Components:        []componentObject{},
		},
	}
	for _, u := range n.Updates {
		o.Updates = append(o.Updates, updateObjectOf(u))
	}
	var codes []string
	for _, a := range n.Attachments {
		codes = append(codes, a.ComponentCode)
		if c := s.Component(a.ComponentCode); c != nil {
			o.Components = append(o.Components, componentObjectOf(c))
		}
	}
	m := s.message(codes)
	m.content.Incident = o
	return m
}

// updateObjectOf returns an update in the JSON form of the status API, for messages of webhooks. Components have the
// statuses that the page shows. Without components, the list is null.
func updateObjectOf(u *Update) updateObject {
	o := updateObject{
		ID: u.Code, Status: string(u.State), Body: u.Body, CreatedAt: instant(u.CreatedAt),
		UpdatedAt: instant(u.UpdatedAt), DisplayAt: (*instant)(u.DisplayAt.Pointer()),
		DeliverNotifications: u.DeliverNotifications, CustomTweet: u.CustomTweet.Pointer(),
		TweetID: u.TweetID.Pointer(),
	}
	if len(u.Affected) > 0 {
		o.Affected = new(list.Map(u.Affected, func(a *AffectedComponent) affectedObject {
			return affectedObject{a.Code, a.Name, string(a.OldShown), string(a.NewShown)}
		}))
	}
	return o
}

// componentObjectOf returns a component in the JSON form of the status API, for messages of webhooks: with the status
// that the page shows, and without the components of a group.
func componentObjectOf(c *Component) componentObject {
	return componentObject{
		ID: c.Code, Name: c.Name, Status: string(c.Shown), CreatedAt: instant(c.CreatedAt),
		UpdatedAt: instant(c.UpdatedAt), Position: c.Position,
		Description: c.Description.Pointer(), Showcase: c.Showcase, StartDate: (*string)(c.StartDate.Pointer()),
		GroupID: c.GroupCode.Pointer(),
		Group:   c.IsGroup, OnlyShowIfDegraded: c.OnlyShowIfDegraded,
	}
}

// ChangeMessage returns the message about a change of a component's status, or nil if the change is not shown or the
// component does not exist any more.
func (s *PageState) ChangeMessage(c *Change) *Message {
	component := s.Component(c.ComponentCode)
	if component == nil || c.OldShown == c.NewShown {
		return nil
	}
	m, object := s.message([]string{c.ComponentCode}), componentObjectOf(component)
	m.content.Component = &object
	m.content.Update = &messageChange{
		ID: c.ComponentCode + "-" + strconv.FormatInt(c.At.UnixMilli(), 10), ComponentID: c.ComponentCode,
		CreatedAt: instant(c.At),
		OldStatus: string(c.OldShown), NewStatus: string(c.NewShown),
	}
	return m
}
