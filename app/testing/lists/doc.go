// Package lists measures every list of the REST API on a large database, with each of its filters (`make bench-lists`).
package lists
