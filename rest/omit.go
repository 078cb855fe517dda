package rest

import "bytes"

// omitNull removes the members of a group from each object of a body in which all of them are null. The body is well-formed and has no white space.
func omitNull(body []byte, group []string) []byte {
	texts := make([][]byte, len(group))
	for i, name := range group {
		texts[i] = []byte(`"` + name + `":null`)
		if !bytes.Contains(body, texts[i]) {
			return body
		}
	}
	// out is the part of body that was read, without removed members. It is never longer than that part, so it can overwrite it.
	out := body[:0]
	var open []omitted // the objects and lists that contain the current position
	for i := 0; i < len(body); {
		switch c := body[i]; c {
		case '{', '[':
			open = append(open, omitted{})
		case '}', ']':
			if last := open[len(open)-1]; len(last.at) == len(group) {
				out = last.cut(out)
			}
			open = open[:len(open)-1]
		case '"':
			n := stringLength(body[i:])
			for _, text := range texts {
				if bytes.HasPrefix(body[i:], text) {
					n = len(text)
					open[len(open)-1].at = append(open[len(open)-1].at, [2]int{len(out), len(out) + n})
				}
			}
			out = append(out, body[i:i+n]...)
			i += n
			continue
		}
		out = append(out, body[i])
		i++
	}
	return out
}

// omitted are the positions of members that may be removed from an object.
type omitted struct{ at [][2]int }

// cut removes the members from the object at the end of b, which lacks its closing brace, each with an adjacent comma.
func (o omitted) cut(b []byte) []byte {
	for i := len(o.at) - 1; i >= 0; i-- {
		from, to := o.at[i][0], o.at[i][1]
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

// stringLength returns the length of the string at the start of b, quotes included.
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
