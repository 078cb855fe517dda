package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestNegotiation checks the media type of responses, and whether they are sent in parts.
func TestNegotiation(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]struct {
		media string
		parts bool
	}{
		"":                 {mediaJSON, false},
		"*/*":              {mediaJSON, false},
		"text/html":        {mediaJSON, false},
		"application/json": {mediaJSON, false},
		"application/graphql-response+json, application/json;q=0.9":                       {mediaGraphQL, false},
		"application/graphql-response+json;charset=utf-8, application/json;charset=utf-8": {mediaGraphQL, false},
		"text/event-stream":                         {mediaEvents, false},
		"text/event-stream, application/json":       {mediaEvents, false},
		"application/json, text/event-stream":       {mediaJSON, false},
		"application/json;q=0.5, text/event-stream": {mediaEvents, false},
		"text/csv":                          {mediaCSV, false},
		"TEXT/CSV; header=present":          {mediaCSV, false},
		"text/csv, */*;q=0.1":               {mediaCSV, false},
		"application/json, text/csv;q=0.1":  {mediaJSON, false},
		"text/csv;q=0.1, application/json":  {mediaJSON, false},
		"application/json;q=0.1, text/csv":  {mediaCSV, false},
		"text/event-stream, text/csv;q=0.9": {mediaEvents, false},
		"text/csv, text/event-stream;q=0.9": {mediaCSV, false},
		"text/csv;q=0, */*":                 {mediaJSON, false},
		"application/json;q=0, */*;q=0.1":   {mediaGraphQL, false},
		"application/*;q=0, text/csv;q=0.1": {mediaCSV, false},
		"text/*":                            {mediaEvents, false},
		"application/x-ndjson":              {mediaNDJSON, false},
		"application/x-ndjson, */*;q=0.1":   {mediaNDJSON, false},
		"application/*":                     {mediaJSON, false},
		"multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json": {
			mediaGraphQL,
			true,
		},
		"multipart/mixed;deferSpec=20220824, application/json":                                     {mediaJSON, true},
		"application/json, multipart/mixed":                                                        {mediaJSON, true},
		"multipart/mixed":                                                                          {mediaJSON, true},
		"application/json, multipart/mixed;q=0.1":                                                  {mediaJSON, false},
		"application/json;q=0.1, multipart/mixed;q=0.5":                                            {mediaJSON, true},
		"multipart/mixed;incrementalSpec=v0.2, application/json":                                   {mediaJSON, false},
		"multipart/mixed;q=0, application/json;q=0.5":                                              {mediaJSON, false},
		`multipart/mixed; boundary="graphql"; subscriptionSpec="1.0", application/json;q=0.9`:      {mediaJSON, false},
		"application/json;q=x, text/csv;q=0.2":                                                     {mediaCSV, false},
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8":    {mediaJSON, false},
		"application/json, application/graphql-response+json, text/event-stream;q=0.5, text/csv;q": {mediaJSON, false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", http.NoBody)
		r.Header.Set("Accept", header)
		if media, parts := responseMedia(r.Header), acceptsParts(r); media != want.media || parts != want.parts {
			t.Errorf("%q: %s, in parts %t, want %s, %t", header, media, parts, want.media, want.parts)
		}
	}
}
