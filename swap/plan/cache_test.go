package plan

import (
	"fmt"
	"testing"
)

// TestBoundedCache checks the bounds for a shelf's number of values and their total size.
func TestBoundedCache(t *testing.T) {
	s := newBoundedCache(3, func(n int) int { return n })
	for i, n := range []int{1, 2, 3, 4} {
		s.put(fmt.Sprint(i), n)
	}
	if _, ok := s.get("0"); ok || len(s.byKey) != 3 || s.bytes != 9 {
		t.Errorf("%+v", s)
	}
	s.put("3", 5) // replaces the value
	if s.bytes != 10 || len(s.order) != 3 {
		t.Errorf("%+v", s)
	}
	s.put("heavy", maxCacheBytes)
	if _, ok := s.get("heavy"); !ok || len(s.byKey) != 1 {
		t.Errorf("%+v", s)
	}
	s.drop("heavy")
	s.drop("heavy")
	if s.bytes != 0 || len(s.order) != 0 {
		t.Errorf("%+v", s)
	}
}
