package cache_test

import (
	"strconv"
	"testing"
	"time"

	"heliograph/internal/base/cache"
)

func TestBounds(t *testing.T) {
	const limit = 100
	for name, c := range map[string]cache.Cache[string, string]{
		"by number": cache.Sized[string, string](limit),
		"by weight": cache.Weighed(limit*10, func(_, v string) int { return len(v) }, 0),
	} {
		t.Run(name, func(t *testing.T) {
			for i := range 100 * limit {
				c.Set(strconv.Itoa(i), "ten bytes.")
			}
			for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // what is too much is dropped behind the writers' backs
				kept := 0
				for i := range 100 * limit {
					if _, ok := c.Get(strconv.Itoa(i)); ok {
						kept++
					}
				}
				if 0 < kept && kept <= limit {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d entries are kept, want at most %d", kept, limit)
				}
			}
		})
	}
}

func TestSetIfAbsent(t *testing.T) {
	c := cache.Sized[int, string](10)
	if _, ok := c.Get(1); ok {
		t.Error("a new cache has an entry")
	}
	if got := c.SetIfAbsent(1, "first"); got != "first" {
		t.Errorf("the first value gave %q", got)
	}
	if got := c.SetIfAbsent(1, "second"); got != "first" {
		t.Errorf("the second value gave %q", got)
	}
	c.Set(1, "third")
	if got, ok := c.Get(1); !ok || got != "third" {
		t.Errorf("got %q, %t", got, ok)
	}
}

func TestAge(t *testing.T) {
	weight := func(_ int, v string) int { return len(v) }
	short, long := cache.Weighed(1000, weight, 20*time.Millisecond), cache.Weighed(1000, weight, time.Hour)
	short.Set(1, "one")
	long.Set(1, "one")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, ok := short.Get(1); !ok {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("an entry of 20 ms is still there after 10 s")
		}
	}
	if _, ok := long.Get(1); !ok {
		t.Error("an entry of an hour is gone")
	}
}
