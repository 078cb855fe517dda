package statuspage

import (
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// Editors write plain text, Markdown or HTML, and imported pages have all three in one body. What is shown is none of them but a short list of blocks, made of what is
// known of each: whatever else stands there is shown as the text that it is, and nothing of it is ever markup of the page.

// block is a paragraph, a list or preformatted text.
type block struct {
	Items [][]span // of a list
	Spans []span   // of a paragraph
	Pre   string   // preformatted text
}

// span is a part of a line.
type span struct {
	Text   string
	Href   string // where a link leads; empty for none
	Strong bool
	Code   bool
	Break  bool // the end of a line, in place of text
}

// blocks makes blocks of what an editor wrote.
func blocks(body string) []block {
	w := &writer{}
	body = strings.ReplaceAll(body, "\r\n", "\n")
	for i, part := range strings.Split(body, "\n```") {
		if i%2 == 1 { // between fences
			_, code, _ := strings.Cut(part, "\n") // behind the name of a language
			w.end()
			w.blocks = append(w.blocks, block{Pre: code})
			continue
		}
		w.markup(part)
	}
	w.end()
	return w.blocks
}

// writer makes blocks of a stream of text and tags.
type writer struct {
	blocks []block
	spans  []span
	list   bool // the spans are an item of a list
	strong int
	code   int
	href   string
}

// markup reads text that may have HTML in it.
func (w *writer) markup(text string) {
	z := html.NewTokenizer(strings.NewReader(text))
	hidden := "" // the element whose text is not shown
	for {
		kind := z.Next()
		raw := string(z.Raw())
		switch kind {
		case html.ErrorToken:
			w.lines(html.UnescapeString(raw)) // the beginning of a tag without an end
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
		case html.CommentToken, html.DoctypeToken: // nobody is to see them
		}
	}
}

// tag acts on a tag, and tells whether it is known.
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

// safe is where a link may lead: to pages and mailboxes only.
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

// lines reads text that may be Markdown.
func (w *writer) lines(text string) {
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		item, isItem := strings.CutPrefix(trimmed, "- ")
		if !isItem {
			item, isItem = strings.CutPrefix(trimmed, "* ")
		}
		switch heading := strings.TrimLeft(trimmed, "#"); {
		case i == 0 && len(w.spans) > 0: // it goes on behind a tag
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

// inline is what Markdown has within a line: code, strong text, links, and addresses.
var inline = regexp.MustCompile("`([^`\n]+)`" + `|\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\((https?://[^)\s]+)\)|(https?://[^\s<>"']*[^\s<>"'.,;:!?)\]])`)

// words reads a part of a line.
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
