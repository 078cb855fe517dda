package requests

import (
	"fmt"
	"testing"
)

// TestSelectedIsStable checks that the requests of a new endpoint replace at most as many requests of others.
func TestSelectedIsStable(t *testing.T) {
	t.Parallel()
	const others, added, most = 1000, 50, 600
	of := func(endpoint string, n int) (list []Request) {
		for i := range n {
			list = append(list, Request{fmt.Sprintf("/%s?limit=%d", endpoint, i), 1})
		}
		return list
	}
	before := (&generator{all: of("old", others)}).selected(most)
	after := (&generator{all: append(of("new", added), of("old", others)...)}).selected(most)
	if len(before) != most || len(after) != most {
		t.Fatalf("%d and %d requests, want %d", len(before), len(after), most)
	}
	kept := map[Request]bool{}
	for _, r := range after {
		kept[r] = true
	}
	lost := 0
	for _, r := range before {
		if !kept[r] {
			lost++
		}
	}
	if lost == 0 || lost > added {
		t.Errorf("%d requests are omitted after %d were added", lost, added)
	}
}
