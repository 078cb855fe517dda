package feed

// Listeners returns the number of listeners.
func (f *Feed[T]) Listeners() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.listeners
}
