// Package soak contains load tests of subscriptions and of several gateways behind HAProxy, which take minutes and
// need the build tag soak. Run them with make soak.
package soak
