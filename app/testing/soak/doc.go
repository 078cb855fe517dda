// Package soak holds a test of subscriptions under load, which needs a minute or more and has the build tag soak: `make soak`.
package soak
