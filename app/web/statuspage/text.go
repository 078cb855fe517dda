package statuspage

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// Editors write plain text, Markdown or HTML, and imported pages can mix all three in one body. A body is converted to a short list of blocks.
// Unknown markup is shown as text, and no markup of an editor reaches the page.

// block is a paragraph, a list or preformatted text.
type block struct {
	Items [][]span // of a list
	Spans []span   // of a paragraph
	Pre   string   // preformatted text
}

// span is a part of a line.
type span struct {
	Text   string
	Href   string // target of a link, or empty
	Strong bool
	Code   bool
	Break  bool // a line break instead of text
}

// blocks converts a text of an editor to blocks.
func blocks(body string) []block {
	w := &writer{}
	body = strings.ReplaceAll(body, "\r\n", "\n")
	for i, part := range strings.Split(body, "\n```") {
		if i%2 == 1 { // inside a code fence
			_, code, _ := strings.Cut(part, "\n") // the first line can contain the name of a language
			w.end()
			w.blocks = append(w.blocks, block{Pre: code})
			continue
		}
		w.markup(part)
	}
	w.end()
	return w.blocks
}

// writer builds blocks from text and tags.
type writer struct {
	blocks []block
	spans  []span
	list   bool // whether the spans belong to a list item
	strong int
	code   int
	href   string
}

// markup parses text that can contain HTML.
func (w *writer) markup(text string) {
	z := html.NewTokenizer(strings.NewReader(text))
	hidden := "" // the element whose content is dropped
	for {
		kind := z.Next()
		raw := string(z.Raw())
		switch kind {
		case html.ErrorToken:
			w.lines(html.UnescapeString(raw)) // an incomplete tag at the end
			return
		case html.TextToken:
			if hidden == "" {
				w.lines(html.UnescapeString(raw))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			tag := string(name)
			if tag == "script" || tag == "style" {
				hidden = ""
				if kind == html.StartTagToken {
					hidden = tag
				}
				continue
			}
			attributes := map[string]string{}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				attributes[string(key)] = string(value)
			}
			if !w.tag(tag, kind == html.EndTagToken, attributes) && hidden == "" {
				w.lines(raw)
			}
		case html.CommentToken, html.DoctypeToken: // dropped
		}
	}
}

// tag applies a tag and reports whether it is supported.
func (w *writer) tag(name string, end bool, attributes map[string]string) bool {
	step := 1
	if end {
		step = -1
	}
	switch name {
	case "br":
		w.spans = append(w.spans, span{Break: true})
	case "p", "div", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote":
		w.end()
	case "li":
		w.end()
		w.list = !end
	case "b", "strong":
		w.strong = max(0, w.strong+step)
	case "code", "tt":
		w.code = max(0, w.code+step)
	case "i", "em", "u", "small", "span", "var", "abbr":
	case "a":
		w.href = ""
		if !end {
			w.href = safe(attributes["href"])
		}
	default:
		return false
	}
	return true
}

// safe returns the address if it is an allowed link target (http, https or mailto), or an empty string.
func safe(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	page := u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
	if !page && (u.Scheme != "mailto" || u.Opaque == "") {
		return ""
	}
	return u.String()
}

// lines parses text that can contain Markdown.
func (w *writer) lines(text string) {
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		item, isItem := strings.CutPrefix(trimmed, "- ")
		if !isItem {
			item, isItem = strings.CutPrefix(trimmed, "* ")
		}
		switch heading := strings.TrimLeft(trimmed, "#"); {
		case i == 0 && len(w.spans) > 0: // continues the line after a tag
			w.words(line)
		case i > 0 && trimmed == "":
			w.end()
		case isItem:
			w.end()
			w.list = true
			w.words(item)
		case heading != trimmed && strings.HasPrefix(heading, " "):
			w.end()
			w.strong++
			w.words(strings.TrimSpace(heading))
			w.strong--
			w.end()
		default:
			if i > 0 && len(w.spans) > 0 {
				w.spans = append(w.spans, span{Break: true})
				line = strings.TrimLeft(line, " \t")
			}
			w.words(line)
		}
	}
}

// inline matches the inline markup of Markdown: code, strong text, links and URLs.
var inline = regexp.MustCompile("`([^`\n]+)`" + `|\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\((https?://[^)\s]+)\)|(https?://[^\s<>"']*[^\s<>"'.,;:!?)\]])`)

// words adds a part of a line.
func (w *writer) words(text string) {
	for text != "" {
		at := inline.FindStringSubmatchIndex(text)
		if at == nil || w.href != "" || w.code > 0 {
			w.add(span{Text: text})
			return
		}
		w.add(span{Text: text[:at[0]]})
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return text[at[2*n]:at[2*n+1]]
		}
		switch {
		case group(1) != "":
			w.add(span{Text: group(1), Code: true})
		case group(2) != "":
			w.add(span{Text: group(2), Strong: true})
		case group(3) != "":
			w.add(span{Text: group(3), Href: safe(group(4))})
		default:
			w.add(span{Text: group(5), Href: safe(group(5))})
		}
		text = text[at[1]:]
	}
}

func (w *writer) add(s span) {
	if s.Text == "" {
		return
	}
	s.Strong = s.Strong || w.strong > 0
	s.Code = s.Code || w.code > 0
	if s.Href == "" {
		s.Href = w.href
	}
	w.spans = append(w.spans, s)
}

// end ends a paragraph or an item.
func (w *writer) end() {
	blank := func(s span) bool { return s.Break || strings.TrimSpace(s.Text) == "" }
	for len(w.spans) > 0 && blank(w.spans[0]) {
		w.spans = w.spans[1:]
	}
	for len(w.spans) > 0 && blank(w.spans[len(w.spans)-1]) {
		w.spans = w.spans[:len(w.spans)-1]
	}
	if len(w.spans) > 0 {
		last := len(w.blocks) - 1
		switch {
		case !w.list:
			w.blocks = append(w.blocks, block{Spans: w.spans})
		case last >= 0 && w.blocks[last].Items != nil:
			w.blocks[last].Items = append(w.blocks[last].Items, w.spans)
		default:
			w.blocks = append(w.blocks, block{Items: [][]span{w.spans}})
		}
	}
	w.spans, w.list = nil, false
}
