// Package list has the functions on slices that the slices package lacks.
package list

// Map returns a new slice with the results of f for the elements of s, in order. It is not nil, even if s is.
func Map[T, R any](s []T, f func(T) R) []R {
	out := make([]R, len(s))
	for i, v := range s {
		out[i] = f(v)
	}
	return out
}

// Find returns the first element for which is returns true, or nil.
func Find[T any](s []*T, is func(*T) bool) *T {
	for _, v := range s {
		if is(v) {
			return v
		}
	}
	return nil
}

// By returns a map of the elements of a slice by their keys. Of several with the same key it has the last one.
func By[K comparable, T any](s []T, key func(T) K) map[K]T {
	out := make(map[K]T, len(s))
	for _, v := range s {
		out[key(v)] = v
	}
	return out
}
