package statuspages

import (
	"strings"
	"testing"

	"heliograph/graph/relay"
)

func TestStatusCode(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		relay.ID(componentType, "b1x4d9r7kq2c"): "b1x4d9r7kq2c", "b1x4d9r7kq2c": "b1x4d9r7kq2c",
		"p9s6dx5j2fnn":                     "p9s6dx5j2fnn", // valid base64 of a text with a colon
		relay.ID(incidentType, "b1x4d9r7"): "the id of a StatusIncident", "not a code": "is not a valid id",
		"": "is not a valid id",
	} {
		got, err := codeOf(id, componentType)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", id, got, want)
		}
	}
}
