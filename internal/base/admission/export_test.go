package admission

// Clients returns the number of clients that the queue remembers.
func (q *Queue) Clients() int { return len(q.clients) }
