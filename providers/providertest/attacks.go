package providertest

import (
	"maps"
	"slices"
	"testing"

	"swapkeep/swap"
)

// An Attack is a lie with a name: told in several places at once, or where no reply
// of the service has a leaf.
type Attack struct {
	Name string
	// Try has the provider meet it, and gives the refusal. A harmless counterpart is
	// the business of the provider's own tests.
	Try func(t *testing.T) error
	// Code and Field are those of the refusal; no field = whichever it is.
	Code  swap.Code
	Field string
}

// Each makes attacks of a table, in the order of their names; what the table lets
// pass, without a code, is none.
func Each[T any](of string, table map[string]T, attack func(T) Attack) (list []Attack) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		a := attack(table[name])
		if a.Name = of + "/" + name; a.Code != "" {
			list = append(list, a)
		}
	}
	return list
}

// attacks tries each, one sub-test by its name.
func attacks(t *testing.T, s Suite, r *record) {
	names := map[string]bool{}
	for _, a := range s.Attacks {
		if a.Code == "" || names[a.Name] {
			t.Errorf("%s stands there twice, or without the code it is refused with", a.Name)
		}
		names[a.Name] = true
		t.Run(a.Name, func(t *testing.T) {
			err := a.Try(t)
			if x := refusal(err); x == nil || x.Code != a.Code || a.Field != "" && x.Field != a.Field {
				t.Errorf("want %s (%s), got %v", a.Code, a.Field, err)
			}
			r.add(&r.named, 1)
		})
	}
}
