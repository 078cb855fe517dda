// Package resolvers answers the fields of the graph.
package resolvers

// Resolver is the root of all resolvers.
type Resolver struct{}
