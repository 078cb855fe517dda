// Package attack measures how requests that are made to exhaust the gateway affect other clients. CI runs each attack for
// a second (`make test-attack SHORT=on`). `make test-attack` runs them for longer and with more clients against a gateway in a process of its own, and also
// overload, many connections, and failures of the database. ATTACK="-attack.procs 16" sets the GOMAXPROCS of that process.
package attack
