package admission

// Clients returns the number of clients that the queue remembers.
func (q *Queue) Clients() int { return len(q.clients) }

// Cost returns what the request has cost until now, in seconds.
func (t *Turn) Cost() float64 { return t.cost }
