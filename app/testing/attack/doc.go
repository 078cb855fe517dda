// Package attack measures how requests that are made to exhaust the gateway affect other clients. `make test` runs each attack for a moment, and
// `make test-attack` for longer and with more clients.
package attack
