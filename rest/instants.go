package rest

// AnyInstant makes several instants of the set alternatives; otherwise they contradict each other.
func (s *TimestampSet) AnyInstant() { s.c.any = true }

// Values are the values of a parameter that has passed validation.
func (r *Request) Values(name string) []Value { return r.values(name) }
