package intent

import (
	"fmt"
	"slices"
	"testing"

	"swapkeep/providers/providertest"
	"swapkeep/swap"
)

// Attacks are the named attacks that TestHostile runs.
func Attacks(t *testing.T) []providertest.Attack {
	return slices.Concat(planAttacks(t), orderAttacks(),
		providertest.AttacksFrom("a stored step", changedSteps, func(o changedStep) providertest.Attack {
			return providertest.Attack{Code: o.code, Field: o.field, Try: o.decoded}
		}),
		providertest.AttacksFrom("a stored offer", storedOffers, func(s storedOffer) providertest.Attack {
			return providertest.Attack{Code: s.code, Field: s.field, Try: s.built}
		}),
		providertest.AttacksFrom("a line", badLines, func(l badLine) providertest.Attack {
			return providertest.Attack{Code: l.code, Field: l.field, Try: l.alone}
		}))
}

// orderAttacks are replies about another order: each gives an error and no status.
func orderAttacks() (list []providertest.Attack) {
	for _, c := range otherOrders {
		if c.field == "" {
			continue
		}
		list = append(list, providertest.Attack{Name: fmt.Sprintf("another order/%s %v", c.member, c.value), Code: swap.ProviderInvalidResponse, Field: c.field, Try: func(t *testing.T) error {
			_, err := c.asked(t)
			return err
		}})
	}
	return list
}
