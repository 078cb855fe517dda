// Package soak contains a load test of subscriptions, which takes minutes and needs the build tag soak. Run it with make soak.
package soak
