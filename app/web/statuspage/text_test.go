package statuspage

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// TestSaid renders plain text, Markdown, HTML and mixtures. No text is lost, and unsafe links are dropped.
func TestSaid(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                                   "",
		"All is well.":                       "<p>All is well.</p>",
		"One.\nTwo.":                         "<p>One.<br>Two.</p>",
		"One.\r\n\r\nTwo.":                   "<p>One.</p><p>Two.</p>",
		"What.<br />Why.<br/>How.":           "<p>What.<br>Why.<br>How.</p>",
		"<p>One.</p>\n<p>Two &amp; 3.</p>":   "<p>One.</p><p>Two &amp; 3.</p>",
		"a < b, x<y and <3 & c > d":          "<p>a &lt; b, x&lt;y and &lt;3 &amp; c &gt; d</p>",
		"Error <unknown> at <0.0.5>":         "<p>Error &lt;unknown&gt; at &lt;0.0.5&gt;</p>",
		"Wait **for it** now":                "<p>Wait <strong>for it</strong> now</p>",
		"Run `go test` <code>now</code>":     "<p>Run <code>go test</code> <code>now</code></p>",
		"<strong>Bold</strong> and <b>b</b>": "<p><strong>Bold</strong> and <b>b</b></p>",
		"- a\n- b\nand more\n\nEnd.":         "<ul><li>a</li><li>b<br>and more</li></ul><p>End.</p>",
		"3. a\n4. b":                         `<ol start="3"><li>a</li><li>b</li></ol>`,
		"<ul><li>a</li><li>b</li></ul>c":     "<ul><li>a</li><li>b</li></ul><p>c</p>",
		"# Head\nText":                       "<p><strong>Head</strong></p><p>Text</p>",
		"#1 is not a head":                   "<p>#1 is not a head</p>",
		"See https://a.example/x?y=1.": `<p>See <a href="https://a.example/x?y=1" ` +
			`rel="nofollow">https://a.example/x?y=1</a>.</p>`,
		"[here](https://a.example) it is":       `<p><a href="https://a.example" rel="nofollow">here</a> it is</p>`,
		`<a href="https://a.example">x</a>`:     `<p><a href="https://a.example" rel="nofollow">x</a></p>`,
		`<a href="javascript:alert(1)">x</a>`:   "<p>x</p>",
		`<script>alert("x")</script>after`:      "<p>after</p>",
		`<img src=x onerror=alert(1)>`:          "<p>&lt;img src=x onerror=alert(1)&gt;</p>",
		"before\n```sh\nmake <p>\n```\nafter":   "<p>before</p><pre><code>make &lt;p&gt;</code></pre><p>after</p>",
		"<!-- hidden -->shown <b":               "<p>shown &lt;b</p>",
		"[x](javascript:alert(1))":              "<p>x</p>",
		"2 * 3 * 4 and **open":                  "<p>2 * 3 * 4 and **open</p>",
		"<p>It is <b>over</b>.<br>\nThank you.": "<p>It is <b>over</b>.<br>Thank you.</p>",
	} {
		if got := strings.ReplaceAll(string(said(body)), "\n", ""); got != want {
			t.Errorf("%q:\n%s", body, cmp.Diff(want, got))
		}
	}
}

// FuzzSaid checks that texts have only the permitted elements and safe links.
func FuzzSaid(f *testing.F) {
	for _, s := range []string{
		"a<b", "<a href='java\nscript:x'>y</a>", "```\n```", "**`[x](http://y)`**", "<li><p>",
		"\x00<br", "<b onclick=x>", "<style>p{}",
	} {
		f.Add(s)
	}
	permitted := []string{"p", "br", "b", "strong", "i", "em", "code", "pre", "ul", "ol", "li", "a"}
	f.Fuzz(func(t *testing.T, body string) {
		z := html.NewTokenizer(strings.NewReader(string(said(body))))
		for z.Next() != html.ErrorToken {
			token := z.Token()
			if token.Type == html.TextToken {
				continue
			}
			if !slices.Contains(permitted, token.Data) {
				t.Errorf("%q: element %s", body, token)
			}
			for _, a := range token.Attr {
				safe := a.Key == "href" && (strings.HasPrefix(a.Val, "http://") ||
					strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "mailto:"))
				if !safe && a.Key != "rel" && a.Key != "start" {
					t.Errorf("%q: attribute %s=%q", body, a.Key, a.Val)
				}
			}
		}
	})
}
