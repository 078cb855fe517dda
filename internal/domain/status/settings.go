package status

import (
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

// Slug makes a short name of a name.
func Slug(name string) string {
	slug := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	if slug = strings.Trim(slug[:min(len(slug), 63)], "-"); slug == "" {
		return "status"
	}
	return slug
}

// CheckPage refuses a page whose settings cannot be. Its URL loses the slash at the end, and its zone is set.
func CheckPage(p *Page) error {
	if err := CheckName("the page", p.Name); err != nil {
		return err
	}
	if !slugForm.MatchString(p.Slug) {
		return Refuse(BadInput, "the short name %q is not 1 to 63 lower-case letters, digits and hyphens", p.Slug)
	}
	p.URL = strings.TrimRight(p.URL, "/")
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return Refuse(BadInput, "%q is no URL such as https://status.example.com", p.URL)
	}
	if p.Zone, err = LoadZone(p.TimeZone); err != nil {
		return Refuse(BadInput, "%v", err)
	}
	if !localeForm.MatchString(p.Locale) {
		return Refuse(BadInput, "%q is no language such as en or pt-BR", p.Locale)
	}
	if !p.Vocabulary.Valid() {
		return Refuse(BadInput, "%q is no vocabulary: choose %s or %s", p.Vocabulary, Documented, Statuspage)
	}
	for _, h := range p.Hosts {
		if !hostForm.MatchString(h) {
			return Refuse(BadInput, "%q is no host name", h)
		}
	}
	return nil
}

// Set changes one of the settings of a page, as command lines name them: name, slug, url, hosts (separated by commas), default, time_zone, locale,
// vocabulary, auto_publish, or text.<locale>.<event>, where an empty text stands for the usual one.
func (p *Page) Set(key, value string) error {
	switch key {
	case "name":
		p.Name = value
	case "slug":
		p.Slug = value
	case "url":
		p.URL = value
	case "time_zone":
		p.TimeZone = value
	case "locale":
		p.Locale = value
	case "vocabulary":
		p.Vocabulary = Vocabulary(value)
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
			return Refuse(BadInput, "%q is no setting: there are name, slug, url, hosts, default, time_zone, locale, vocabulary, auto_publish and text.<locale>.<event>", key)
		}
		p.setText(locale, Event(event), value)
	}
	return nil
}

func setSwitch(into *bool, key, value string) error {
	on, err := strconv.ParseBool(value)
	if err != nil {
		return Refuse(BadInput, "%s is true or false, not %q", key, value)
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
