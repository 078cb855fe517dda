package storage

// ForgetPaces forgets how long batches take and which are sent alone.
func ForgetPaces() { paces.Clear() }
