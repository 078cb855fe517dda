// Package attack measures how requests that are made to exhaust the gateway affect other clients, and how the gateway
// serves more requests than it can run at the same time. CI runs each attack for a second (`make test-attack
// SHORT=on`). `make test-attack` runs them for longer and with more clients against a gateway in a process of its own,
// and also many connections, and failures of the database. ATTACK="-attack.procs 16" sets the GOMAXPROCS of that
// process.
//
// `make test-load` sends requests of honest clients in closed and open loops. LOAD="-load.database URL" uses another
// database than the demo network.
package attack
