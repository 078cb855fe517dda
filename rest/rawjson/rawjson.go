// Package rawjson reads and edits JSON without decoding it. The JSON must be valid and must not have white space or
// escapes in member names, like the data that the GraphQL executor writes. Results for any other JSON are undefined.
package rawjson

import (
	"bytes"
	"iter"
)

// Members yields the names and values of an object's members, in order; object must be valid JSON without white space.
// They are parts of the memory of object. last is the name of the last member, or "" if that is not known: its value
// is the rest of the object, which is not scanned, so that no member follows it.
func Members(object []byte, last string) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for at := 1; at < len(object) && object[at] == '"'; {
			value := at + stringLength(object[at:]) + len(":")
			name, end := object[at+1:value-len(`":`)], len(object)-1
			if last == "" || string(name) != last {
				end = value + valueLength(object[value:])
			}
			if !yield(name, object[value:end]) {
				return
			}
			at = end + 1 // after the comma or the closing brace
		}
	}
}

// Sole returns the value of the member of an object that has exactly one, in the memory of object, which must be
// compact JSON. ok reports whether the member has the given name. If not, value is nil. Sole does not check that the
// object has no other member.
func Sole(object []byte, name string) (value []byte, ok bool) {
	start := len(`{"`) + len(name)
	if len(object) <= start || string(object[2:start]) != name || object[start] != '"' {
		return nil, false
	}
	return object[start+len(`":`) : len(object)-1], true
}

// valueLength returns the length in bytes of the JSON value at the start of b. The value ends before a comma or the
// closing bracket of the object or list that contains it, or with b.
func valueLength(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += stringLength(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(b)
}

// stringLength returns the length in bytes of the JSON string at the start of b, quotes included. It is that of b if
// the string does not end.
func stringLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// OmitEmpty returns a copy of value without the members with the given name and the value [] in all objects. The
// member must not be the last one of an object. value must be compact, and no name of a member may contain a quote.
func OmitEmpty(value []byte, name string) []byte {
	// Quotes in strings are escaped and names have none, so this text can only be the member itself.
	return bytes.ReplaceAll(value, []byte(`"`+name+`":[],`), nil)
}

// Keyed returns value, which must be compact JSON, with the lists of all members with the given name replaced by
// objects, as a copy if there are any. The items of the lists are objects with two members, of which the first, a
// text, is the name of a member of the object, and the second its value.
func Keyed(value []byte, name string) []byte {
	start := []byte(`"` + name + `":[`) // quotes in strings are escaped, so this text can only be the member itself
	if !bytes.Contains(value, start) {
		return value
	}
	out := make([]byte, 0, len(value))
	for {
		before, after, found := bytes.Cut(value, start)
		if out = append(out, before...); !found {
			return out
		}
		out = append(append(out, start[:len(start)-1]...), '{')
		for len(after) > 0 && after[0] != ']' {
			if after[0] == ',' {
				out, after = append(out, ','), after[1:]
			}
			for at := range 2 {
				after = after[1:]                     // the brace or the comma
				after = after[stringLength(after)+1:] // the name with its colon
				n := valueLength(after)
				out, after = append(out, after[:n]...), after[n:]
				if at == 0 {
					out = append(out, ':')
				}
			}
			after = after[1:]
		}
		out, value = append(out, '}'), after[min(1, len(after)):]
	}
}

// OmitNull returns value, which must be compact JSON, without the members of a group in each object in which all of
// them are null. It overwrites the memory of value.
func OmitNull(value []byte, group ...string) []byte {
	texts := make([][]byte, len(group))
	for i, name := range group {
		texts[i] = []byte(`"` + name + `":null`)
		at := indexMember(value, texts[i])
		if at < 0 {
			return value
		}
		for len(group) == 1 {
			value = nulls{{at, at + len(texts[0])}}.cut(value)
			next := indexMember(value[at:], texts[0])
			if next < 0 {
				return value
			}
			at += next
		}
	}
	// out is the part of value that was read, without removed members. It is never longer than that part, so it can
	// overwrite it.
	out := value[:0]
	var open []nulls // of the objects and lists that contain the current position
	for i := 0; i < len(value); {
		switch c := value[i]; c {
		case '{', '[':
			open = append(open, nil)
		case '}', ']':
			if last := open[len(open)-1]; len(last) == len(group) {
				out = last.cut(out)
			}
			open = open[:len(open)-1]
		case '"':
			n := stringLength(value[i:])
			for _, text := range texts {
				if bytes.HasPrefix(value[i:], text) {
					n = len(text)
					open[len(open)-1] = append(open[len(open)-1], [2]int{len(out), len(out) + n})
				}
			}
			out = append(out, value[i:i+n]...)
			i += n
			continue
		}
		out = append(out, value[i])
		i++
	}
	return out
}

// indexMember returns the position of the first member with the text member, such as "memo":null, in value, which is
// compact JSON, or -1. Quotes in strings are escaped, so the text can only be a member. The text is searched without
// its first byte: searching a frequent one, like the quote, takes three times as long.
func indexMember(value, member []byte) int {
	for from := 1; from < len(value); {
		at := bytes.Index(value[from:], member[1:])
		if at < 0 {
			return -1
		}
		if from += at; value[from-1] == '"' {
			return from - 1
		}
		from++
	}
	return -1
}

// nulls are the positions of an object's null members that belong to a group.
type nulls [][2]int

// cut removes the members at the positions n, in ascending order, of an object in b, each with an adjacent comma, and
// returns the shorter b. It overwrites b.
func (n nulls) cut(b []byte) []byte {
	for i := len(n) - 1; i >= 0; i-- {
		from, to := n[i][0], n[i][1]
		switch {
		case b[from-1] == ',':
			from--
		case to < len(b) && b[to] == ',':
			to++
		}
		b = append(b[:from], b[to:]...)
	}
	return b
}
