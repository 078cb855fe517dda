package v1

import "heliograph/rest"

// Endpoints returns all endpoints, for tests that must cover each of them.
func Endpoints() []rest.Endpoint { return endpoints(DefaultFeeBody) }

// Document returns the text of an endpoint's document.
func Document(name string) (string, error) {
	text, err := documents.ReadFile("documents/" + name)
	return string(text), err
}
