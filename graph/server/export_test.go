package server

// Boundary is the boundary of parts.
var Boundary = boundary
