package storage

// Merge merges two lists that are sorted by key in the direction of p, and returns at most p.Limit rows. If both lists contain a key, the result has the
// row of a. key returns the key of a row; keys are unique within a list.
func Merge[T any](a, b []*T, p Page, key func(*T) int64) []*T {
	if len(b) == 0 {
		return a
	}
	out := make([]*T, 0, p.Limit)
	for len(out) < p.Limit && len(a)+len(b) > 0 {
		switch {
		case len(b) == 0:
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0:
			out, b = append(out, b[0]), b[1:]
		case key(a[0]) == key(b[0]):
			b = b[1:]
		case (key(a[0]) > key(b[0])) == p.Desc:
			out, a = append(out, a[0]), a[1:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}
