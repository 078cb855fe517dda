package status

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	slugForm   = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)
	hostForm   = regexp.MustCompile(`^[a-z0-9.-]+(:\d+)?$`)
	localeForm = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)
)

// Slug returns a slug for a name.
func Slug(name string) string {
	slug := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	if slug = strings.Trim(slug[:min(len(slug), 63)], "-"); slug == "" {
		return "status"
	}
	return slug
}

// PageSetting is a setting of a page with its new value; see [Page.Set].
type PageSetting struct{ Key, Value string }

// PageEdit describes changes to the settings of a page.
type PageEdit struct {
	Target
	Settings []PageSetting
}

// NewPage returns a page with defaults for settings that are empty, or an error if the settings are invalid.
func NewPage(in Page) (*Page, error) {
	in.Slug = cmp.Or(in.Slug, Slug(in.Name))
	in.TimeZone, in.Locale, in.Vocabulary = cmp.Or(in.TimeZone, defaultZone), cmp.Or(in.Locale, "en"), cmp.Or(in.Vocabulary, Documented)
	if err := CheckPage(&in); err != nil {
		return nil, err
	}
	return &in, nil
}

// WithSettings returns a copy of the page with changed settings.
func (p *Page) WithSettings(settings []PageSetting) (*Page, error) {
	after := *p
	for _, s := range settings {
		if err := after.Set(s.Key, s.Value); err != nil {
			return nil, err
		}
	}
	if err := CheckPage(&after); err != nil {
		return nil, err
	}
	if p.IsDefault && !after.IsDefault {
		return nil, Errorf(BadInput, "one page must be the default page: make another page the default instead")
	}
	return &after, nil
}

// CheckPage fails if the settings of a page are invalid. It removes a trailing slash from the URL and sets the zone.
func CheckPage(p *Page) error {
	if err := CheckName("the page", p.Name); err != nil {
		return err
	}
	if !slugForm.MatchString(p.Slug) {
		return Errorf(BadInput, "the slug %q is not 1 to 63 lower-case letters, digits and hyphens", p.Slug)
	}
	p.URL = strings.TrimRight(p.URL, "/")
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return Errorf(BadInput, "%q is not a URL such as https://status.example.com", p.URL)
	}
	if p.Zone, err = LoadZone(p.TimeZone); err != nil {
		return Errorf(BadInput, "%v", err)
	}
	if !localeForm.MatchString(p.Locale) {
		return Errorf(BadInput, "%q is not a locale such as en or pt-BR", p.Locale)
	}
	if !p.Vocabulary.Valid() {
		return Errorf(BadInput, "%q is not a vocabulary: use %s or %s", p.Vocabulary, Documented, Statuspage)
	}
	for _, h := range p.Hosts {
		if !hostForm.MatchString(h) {
			return Errorf(BadInput, "%q is not a host name", h)
		}
	}
	return nil
}

// Set changes a setting of a page: name, slug, url, hosts (separated by commas), default, time_zone, locale, vocabulary, auto_publish, or
// text.<locale>.<event>, for which an empty text restores the default.
func (p *Page) Set(key, value string) error {
	texts := map[string]*string{
		"name": &p.Name, "slug": &p.Slug, "url": &p.URL, "time_zone": &p.TimeZone, "locale": &p.Locale, "vocabulary": (*string)(&p.Vocabulary),
	}
	if into := texts[key]; into != nil {
		*into = value
		return nil
	}
	switch key {
	case "hosts":
		p.Hosts = nil
		for h := range strings.SplitSeq(strings.ToLower(value), ",") {
			if h = strings.TrimSpace(h); h != "" && !slices.Contains(p.Hosts, h) {
				p.Hosts = append(p.Hosts, h)
			}
		}
	case "default":
		return setSwitch(&p.IsDefault, key, value)
	case "auto_publish":
		return setSwitch(&p.AutoPublish, key, value)
	default:
		rest, isText := strings.CutPrefix(key, "text.")
		locale, event, _ := strings.Cut(rest, ".")
		if !isText || !localeForm.MatchString(locale) || !slices.Contains(Events(), Event(event)) {
			return Errorf(BadInput, "unknown setting %q: there are name, slug, url, hosts, default, time_zone, locale, vocabulary, auto_publish and "+
				"text.<locale>.<event>", key)
		}
		p.setText(locale, Event(event), value)
	}
	return nil
}

func setSwitch(into *bool, key, value string) error {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return Errorf(BadInput, "%s must be true or false, not %q", key, value)
	}
	*into = on
	return nil
}

func (p *Page) setText(locale string, e Event, text string) {
	texts := Texts{}
	for l, by := range p.Texts {
		texts[l] = maps.Clone(by)
	}
	if texts[locale] == nil {
		texts[locale] = map[Event]string{}
	}
	if texts[locale][e] = text; text == "" {
		delete(texts[locale], e)
	}
	p.Texts = texts
}
