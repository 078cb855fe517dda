// Package list has the functions on slices that the slices package lacks.
package list

// Map returns the results of f for the elements of s, in order.
func Map[T, R any](s []T, f func(T) R) []R {
	out := make([]R, len(s))
	for i, v := range s {
		out[i] = f(v)
	}
	return out
}
