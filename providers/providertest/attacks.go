package providertest

import (
	"maps"
	"slices"
	"testing"

	"swapkeep/swap"
)

// An Attack is a named attack: a lie in several places at once, or in one that no reply has
// a leaf for.
type Attack struct {
	Name string
	// Try confronts the provider with the attack and returns the refusal. Harmless variants
	// are left to the provider's own tests.
	Try func(t *testing.T) error
	// Code and Field are the refusal's; an empty Field allows any.
	Code  swap.Code
	Field string
}

// AttacksFrom makes attacks from a table, sorted by name. Entries without a code, which the table
// accepts, are left out.
func AttacksFrom[T any](of string, table map[string]T, attack func(T) Attack) (list []Attack) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		a := attack(table[name])
		if a.Name = of + "/" + name; a.Code != "" {
			list = append(list, a)
		}
	}
	return list
}

// attacks runs each attack in a sub-test of its name.
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
