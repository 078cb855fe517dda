// Package compare compares the responses of two REST services, or of one service with a record, and groups the
// differences by cause.
package compare

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Response is the response to a GET request. The status is 0 if there is no response, and the body is the error then.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Headers are the names of the headers that are compared.
var Headers = []string{"Cache-Control", "Content-Type", "Link"}

// Digest is what is compared of a response.
type Digest struct {
	Status int
	// Headers are the values of [Headers]. A Link to the page of links.next is "next".
	Headers []string
	// Members are the parts of the JSON body in the order of their first occurrence. The first one is the body itself.
	Members []Member
	body    []byte
}

// Member is a part of a JSON body, with all its occurrences in lists.
type Member struct {
	// Path is the position in the body, such as accounts[].balance.balance.
	Path string
	// Types are the JSON types of the occurrences, sorted and joined by "|".
	Types string
	// Count is the number of occurrences.
	Count int
	// Hash has four hex digits, of the values in order. The value of a list is its length, that of an object is empty.
	Hash string

	values []string // JSON texts, nil in a record
	items  []string // texts of the items of a list that is not in another list
}

const linkPath = "links.next"

// maxPath is the maximum length of the path of a member, in bytes. Each value takes memory for its path, so that
// without a limit the memory for nested values would grow with the square of their depth.
const maxPath = 1000

var errLongPath = errors.New("the members of the body have too long paths")

// NewDigest returns the digest of a response. A body that is not JSON is a single member of the type text. So is JSON
// that another text follows, and JSON with paths of more than maxPath bytes. It never fails, and keeps the body of r.
func NewDigest(r *Response) *Digest {
	b := &digestBuilder{places: map[string]int{}}
	d := json.NewDecoder(bytes.NewReader(r.Body))
	d.UseNumber()
	err := b.value("", d)
	if err == nil && d.InputOffset() != int64(len(bytes.TrimRight(r.Body, " \r\n\t"))) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		b.members = []Member{{Types: "text", Count: 1, values: []string{string(r.Body)}}}
	}
	out := &Digest{Status: r.Status, Members: b.members, body: r.Body}
	for i := range out.Members {
		m := &out.Members[i]
		sum := fnv.New32a()
		for _, v := range m.values {
			_, _ = sum.Write(append([]byte(v), 0)) // hashes do not fail
		}
		m.Hash = hex.EncodeToString(sum.Sum(nil)[:2])
	}
	for _, name := range Headers {
		value := strings.Join(r.Header.Values(name), ", ")
		if name == "Link" && value == `<`+out.Next()+`>; rel="next"` {
			value = "next"
		}
		out.Headers = append(out.Headers, value)
	}
	return out
}

// Next returns the path of the next page in the member links.next of the body, or "" if there is none, it is not a
// string, or the digest is from a record, which has no values.
func (d *Digest) Next() string {
	m := d.member(linkPath)
	if m.Types != "string" || m.values == nil {
		return ""
	}
	next, _ := strconv.Unquote(m.values[0])
	return next
}

// none is a member that does not occur.
var none = &Member{}

// member returns the member of d.Members with the path, or none if the body does not have it.
func (d *Digest) member(path string) *Member {
	for i := range d.Members {
		if d.Members[i].Path == path {
			return &d.Members[i]
		}
	}
	return none
}

// digestBuilder reads a body.
type digestBuilder struct {
	members []Member
	places  map[string]int
	item    *bytes.Buffer // the text of the current item of a list that is not in another list
}

// add counts an occurrence of the member at path with a type and a value, and returns its position in b.members.
// While an item of the outermost array is read, it also appends the value to the text of the item.
func (b *digestBuilder) add(path, typ, value string) int {
	at, ok := b.places[path]
	if !ok {
		at = len(b.members)
		b.places[path] = at
		b.members = append(b.members, Member{Path: path})
	}
	m := &b.members[at]
	m.Count++
	m.values = append(m.values, value)
	if types := strings.Split(m.Types, "|"); m.Types == "" {
		m.Types = typ
	} else if !slices.Contains(types, typ) {
		types = append(types, typ)
		slices.Sort(types)
		m.Types = strings.Join(types, "|")
	}
	if b.item != nil {
		fmt.Fprintf(b.item, "%s=%s\n", path, value)
	}
	return at
}

// value reads the next JSON value of d and adds it, and all that is below it, under path. d must use [json.Number]:
// other numbers would count as null. It fails if the text is not JSON or a path is longer than maxPath. What it has
// added before remains.
func (b *digestBuilder) value(path string, d *json.Decoder) error {
	if len(path) > maxPath {
		return errLongPath
	}
	token, err := d.Token()
	if err != nil {
		return err //nolint:wrapcheck // the body is not JSON
	}
	switch v := token.(type) {
	case json.Delim:
		read := b.object
		if v == '[' {
			read = b.list
		}
		if err := read(path, d); err != nil {
			return err
		}
		_, err := d.Token()
		return err //nolint:wrapcheck // as above
	case string:
		b.add(path, "string", strconv.Quote(v))
	case json.Number:
		b.add(path, "number", v.String())
	case bool:
		b.add(path, "boolean", strconv.FormatBool(v))
	default:
		b.add(path, "null", "null")
	}
	return nil
}

// object reads the members of an object, the opening brace of which is read already. It leaves the closing brace.
// Names that begin with 0x are slots of a map: all of them count as one member, 0x*.
func (b *digestBuilder) object(path string, d *json.Decoder) error {
	b.add(path, "object", "")
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err //nolint:wrapcheck // as above
		}
		text, _ := name.(string)
		if strings.HasPrefix(text, "0x") { // a map of slots
			text = "0x*"
		}
		if err := b.value(strings.TrimPrefix(path+"."+text, "."), d); err != nil {
			return err
		}
	}
	return nil
}

// list reads the items of an array, the opening bracket of which is read already. It leaves the closing bracket.
// Items of the outermost array are also kept as text, so that pages can be compared item by item.
func (b *digestBuilder) list(path string, d *json.Decoder) error {
	at, length, items := b.add(path, "array", ""), 0, []string(nil)
	occurrence := len(b.members[at].values) - 1
	for ; d.More(); length++ {
		outer := b.item == nil
		if outer {
			b.item = &bytes.Buffer{}
		}
		if err := b.value(path+"[]", d); err != nil {
			return err
		}
		if outer {
			items = append(items, b.item.String())
			b.item = nil
		}
	}
	b.members[at].values[occurrence] = strconv.Itoa(length)
	b.members[at].items = items
	return nil
}

// Cause identifies differences that have the same reason.
type Cause struct {
	// Kind is one of the kinds below.
	Kind string
	// Where is the path pattern of the endpoint, the name of a header, or the path of a member.
	Where string
	// Before and After are the statuses, types or headers of both sides, if they belong to the cause.
	Before, After string
}

// The kinds of causes.
const (
	StatusChanged = "status"
	HeaderChanged = "header"
	MemberMissing = "member missing"
	MemberAdded   = "member added"
	TypeChanged   = "type"
	ItemsChanged  = "items"
	ValueChanged  = "value"
	LinkChanged   = "link"
	TextChanged   = "text" // the same JSON with other white space or another order of members
)

// Difference is a difference of one response.
type Difference struct {
	Cause
	// From and To are the differing values, empty if they are not known.
	From, To string
}

// Differences returns the differences of two responses of an endpoint, or nil if they are equal; a is the expected
// one. It compares the status, then [Headers], then members. If the statuses differ, or both services did not respond,
// that is the only difference. It omits members below a member that differs. If nothing differs, it compares the bytes
// of the bodies, which records do not have.
func Differences(endpoint string, a, b *Digest) []Difference {
	if a.Status != b.Status || a.Status == 0 {
		return []Difference{{Cause{StatusChanged, endpoint, a.status(), b.status()}, a.text(), b.text()}}
	}
	var out []Difference
	for i, name := range Headers {
		if a.Headers[i] != b.Headers[i] {
			cause := Cause{HeaderChanged, name, a.Headers[i], b.Headers[i]}
			if name == "Link" {
				cause.Before, cause.After = "", ""
			}
			out = append(out, Difference{cause, a.Headers[i], b.Headers[i]})
		}
	}
	var reported []string
	for _, path := range paths(a, b) {
		if under(path, reported) {
			continue
		}
		if d, ok := compareMember(a, b, path); ok {
			out, reported = append(out, d), append(reported, path)
		}
	}
	if out == nil && a.body != nil && b.body != nil && !bytes.Equal(a.body, b.body) {
		out = append(out, Difference{Cause{Kind: TextChanged, Where: endpoint}, a.text(), b.text()})
	}
	return out
}

// status returns the HTTP status as text for the report. 0 is the status of a request without a response.
func (d *Digest) status() string {
	if d.Status == 0 {
		return "no response"
	}
	return strconv.Itoa(d.Status)
}

// text returns the first 200 bytes of the body for the report, or "" for a record, which has no body.
func (d *Digest) text() string { return string(d.body[:min(len(d.body), 200)]) }

// paths returns the paths of the members of both bodies, each once, in the order of a, then of b.
func paths(a, b *Digest) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range slices.Concat(a.Members, b.Members) {
		if !seen[m.Path] {
			seen[m.Path] = true
			out = append(out, m.Path)
		}
	}
	return out
}

// under reports whether a path is below one of others. All paths are below the empty one, that of the body.
func under(path string, others []string) bool {
	return slices.ContainsFunc(others, func(o string) bool {
		rest, ok := strings.CutPrefix(path, o)
		return ok && (o == "" || rest != "" && (rest[0] == '.' || rest[0] == '['))
	})
}

// parent returns the path of the object or list that contains a member: "" for one of the body itself.
func parent(path string) string {
	if list, ok := strings.CutSuffix(path, "[]"); ok {
		return list
	}
	return path[:max(strings.LastIndexByte(path, '.'), 0)]
}

// compareMember returns the difference of the member at path. ok is false if the member is equal. Another number of
// occurrences is a difference only if the number of objects that contain it is the same. For items of lists it is
// none: the list differs then. If both bodies have the member, From and To are its first values that differ, or empty
// if one side is a record.
func compareMember(digestA, digestB *Digest, path string) (d Difference, ok bool) {
	a, b := digestA.member(path), digestB.member(path)
	same := path == ""
	if !same {
		in, inB := digestA.member(parent(path)), digestB.member(parent(path))
		same = in.Count > 0 && in.Count == inB.Count && !strings.HasSuffix(path, "[]")
	}
	switch {
	case a.Count > b.Count && same:
		return Difference{Cause{Kind: MemberMissing, Where: path}, first(a), ""}, true
	case a.Count < b.Count && same:
		return Difference{Cause{Kind: MemberAdded, Where: path}, "", first(b)}, true
	case a.Count != b.Count || a.equal(b):
		return d, false
	case path == linkPath:
		d.Kind = LinkChanged
	case a.Types != b.Types:
		d.Kind, d.Before, d.After = TypeChanged, a.Types, b.Types
	case a.Types == "array":
		d.Kind = ItemsChanged
	default:
		d.Kind = ValueChanged
	}
	d.Where = path
	before, after := a.values, b.values
	if d.Kind == ItemsChanged && slices.Equal(before, after) {
		before, after = a.items, b.items
	}
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] {
			d.From, d.To = before[i], after[i]
			break
		}
	}
	return d, true
}

// equal reports whether two members have the same occurrences. Those of a record have no values: only the hashes are
// compared then. Lists with the same number of items differ if an item has another position.
func (m *Member) equal(other *Member) bool {
	if m.Types != other.Types || m.Hash != other.Hash || m.values != nil && other.values != nil &&
		!slices.Equal(m.values, other.values) {
		return false
	}
	for i, item := range m.items {
		if i < len(other.items) && item != other.items[i] &&
			(slices.Contains(other.items, item) || slices.Contains(m.items, other.items[i])) {
			return false
		}
	}
	return true
}

// first returns the first value of a member for the report, or "" if it has none.
func first(m *Member) string {
	if len(m.values) == 0 {
		return ""
	}
	return m.values[0]
}
