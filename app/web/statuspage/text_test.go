package statuspage

import (
	"strings"
	"testing"
)

// plain formats blocks as text: a line per paragraph, ^ around strong text, ` around code, <…> after the text of links, / for a line break,
// - before items and | before preformatted text.
func plain(list []block) string {
	var lines []string
	spans := func(list []span) string {
		var b strings.Builder
		for _, s := range list {
			text := s.Text
			if s.Break {
				text = "/"
			}
			if s.Strong {
				text = "^" + text + "^"
			}
			if s.Code {
				text = "`" + text + "`"
			}
			if s.Href != "" {
				text += "<" + s.Href + ">"
			}
			b.WriteString(text)
		}
		return b.String()
	}
	for _, b := range list {
		switch {
		case b.Items != nil:
			for _, item := range b.Items {
				lines = append(lines, "- "+spans(item))
			}
		case b.Pre != "":
			lines = append(lines, "|"+b.Pre)
		default:
			lines = append(lines, spans(b.Spans))
		}
	}
	return strings.Join(lines, "\n")
}

// TestBlocks converts plain text, Markdown, HTML and mixtures. No text is lost, and unsafe links are dropped.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                                            "",
		"All is well.":                                "All is well.",
		"One.\nTwo.":                                  "One./Two.",
		"One.\r\n\r\nTwo.":                            "One.\nTwo.",
		"What.<br />Why.<br/>How.":                    "What./Why./How.",
		"<p>One.</p>\n<p>Two &amp; 3.</p>":            "One.\nTwo & 3.",
		"a < b, x<y and <3 & c > d":                   "a < b, x<y and <3 & c > d",
		"Error <unknown> at <0.0.5>":                  "Error <unknown> at <0.0.5>",
		"Wait **for it** now":                         "Wait ^for it^ now",
		"Run `go test` <code>now</code>":              "Run `go test` `now`",
		"<strong>Bold</strong> and <b>b</b>":          "^Bold^ and ^b^",
		"- a\n- b\nand more\n\nEnd.":                  "- a\n- b/and more\nEnd.",
		"<ul><li>a</li><li>b</li></ul>c":              "- a\n- b\nc",
		"# Head\nText":                                "^Head^\nText",
		"#1 is not a head":                            "#1 is not a head",
		"See https://a.example/x?y=1.":                "See https://a.example/x?y=1<https://a.example/x?y=1>.",
		"[here](https://a.example) it is":             "here<https://a.example> it is",
		`<a href="https://a.example">x</a>`:           "x<https://a.example>",
		`<a href="javascript:alert(1)">x</a>`:         "x",
		`<script>alert("x")</script>after`:            "after",
		`<img src=x onerror=alert(1)>`:                "<img src=x onerror=alert(1)>",
		"before\n```sh\nmake run\n```\nafter":         "before\n|make run\nafter",
		"<!-- hidden -->shown <b":                     "shown <b",
		"[x](javascript:alert(1))":                    "[x](javascript:alert(1))",
		"2 * 3 * 4 and **open":                        "2 * 3 * 4 and **open",
		"<p>It is <b>over</b>.<br>\nThank you.</p>\n": "It is ^over^./Thank you.",
	} {
		if got := strings.ReplaceAll(plain(blocks(body)), "//", "/"); got != strings.ReplaceAll(want, "//", "/") {
			t.Errorf("%q: got\n%s\nwant\n%s", body, got, want)
		}
	}
}

// FuzzBlocks checks that no text causes a panic and that all links are safe.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{"a<b", "<a href='java\nscript:x'>y</a>", "```\n```", "**`[x](http://y)`**", "<li><p>", "\x00<br"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, b := range blocks(body) {
			for _, list := range append(b.Items, b.Spans) {
				for _, s := range list {
					if s.Href != "" && !strings.HasPrefix(s.Href, "http://") && !strings.HasPrefix(s.Href, "https://") && !strings.HasPrefix(s.Href, "mailto:") {
						t.Errorf("%q: unsafe link %q", body, s.Href)
					}
				}
			}
		}
	})
}
