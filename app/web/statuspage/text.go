package statuspage

import (
	"bytes"
	"html/template"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// Editors write plain text, Markdown or HTML, and imported pages can mix all three in one body. HTML blocks become Markdown, goldmark renders it, and
// bluemonday removes all but a few elements. Unknown tags are shown as text. docs/status-page.md has the list of what is supported.

// markdown renders texts. Each line break of a text is one of the page.
var markdown = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewListParser(), 300), util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewATXHeadingParser(), 600), util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	)),
	goldmark.WithExtensions(extension.Linkify),
	goldmark.WithRendererOptions(html.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(ownElements{}, 100))),
)

// policy permits the elements of texts.
var policy = func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "b", "strong", "i", "em", "code", "pre", "ul", "ol", "li")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	return p
}()

// ownElements renders headings as strong paragraphs, since texts are below the headings of the page, and unknown tags as text.
type ownElements struct{}

// inlineTag matches tags that the policy permits or removes with their content, and comments, which it removes.
var inlineTag = regexp.MustCompile(`(?i)^<(/?(b|strong|i|em|code|a|span|script|style)\b|!--)`)

// RegisterFuncs implements [renderer.NodeRenderer].
func (ownElements) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		text := "</strong></p>\n"
		if entering {
			text = "<p><strong>"
		}
		_, err := w.WriteString(text)
		return ast.WalkContinue, err //nolint:wrapcheck // of a buffer
	})
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if raw, ok := n.(*ast.RawHTML); ok && entering {
			tag := raw.Segments.Value(source)
			if !inlineTag.Match(tag) {
				tag = util.EscapeHTML(tag)
			}
			_, err := w.Write(tag)
			return ast.WalkSkipChildren, err //nolint:wrapcheck // of a buffer
		}
		return ast.WalkSkipChildren, nil
	})
}

// blockTag matches tags of blocks with the space around them.
var blockTag = regexp.MustCompile(`(?i)\s*<(/?)(p|div|ul|ol|li|h[1-6]|blockquote|br)\b[^<>]*>[ \t]*\n?`)

// said renders a text of an editor.
func said(body string) template.HTML {
	parts := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n```")
	for i := 0; i < len(parts); i += 2 { // the others are code
		parts[i] = blockTag.ReplaceAllStringFunc(parts[i], func(tag string) string {
			switch tag = strings.ToLower(strings.TrimSpace(tag)); {
			case strings.HasPrefix(tag, "<br"):
				return "\n"
			case strings.HasPrefix(tag, "<li"):
				return "\n- "
			case tag == "</li>":
				return ""
			default:
				return "\n\n"
			}
		})
	}
	var b bytes.Buffer
	if err := markdown.Convert([]byte(strings.Join(parts, "\n```")), &b); err != nil { // does not happen: the buffer accepts everything
		return template.HTML(template.HTMLEscapeString(body)) //nolint:gosec // escaped
	}
	return template.HTML(bytes.TrimSpace(policy.SanitizeBytes(b.Bytes()))) //nolint:gosec // sanitized
}
