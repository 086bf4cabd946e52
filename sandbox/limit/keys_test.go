package limit

import (
	"fmt"
	"testing"
	"time"
)

func TestKeys(t *testing.T) {
	var k Keys
	allowed := func(key string, n int) (count int) {
		for range 5 {
			if k.Allow(key, n, time.Hour) {
				count++
			}
		}
		return count
	}
	for _, x := range []struct {
		key     string
		n, want int
	}{{"a", 2, 2}, {"a", 2, 0}, {"b", 2, 2}, {"a", 0, 5}, {"a", 4, 0}} {
		if got := allowed(x.key, x.n); got != x.want {
			t.Errorf("%q with %d an hour: %d of 5 allowed, want %d", x.key, x.n, got, x.want)
		}
	}
	if k.Reset(); allowed("a", 4) != 4 {
		t.Error("a key is remembered after a reset")
	}
	for i := range 2 * maxKeys {
		k.Allow(fmt.Sprint(i), 1, time.Hour)
	}
	if len(k.rates) > maxKeys {
		t.Errorf("%d keys are remembered", len(k.rates))
	}
}
