// Package lists measures every list of the REST API on a large database, with each of its filters, and the lists,
// orders and filters that only the graph has (`make bench-lists`).
package lists
