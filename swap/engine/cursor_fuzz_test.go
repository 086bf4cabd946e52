package engine

import (
	"errors"
	"slices"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// FuzzCursor checks that any cursor yields a tail of the list or BadRequest, and that a
// cursor that names a pair of the list yields what follows that pair.
func FuzzCursor(f *testing.F) {
	var all []swap.Grant
	for _, token := range []common.Address{usdc, weth, {}} {
		for _, spender := range []common.Address{permit2, router, thief} {
			all = append(all, swap.Grant{Token: token, Spender: spender, Kind: swap.ByToken}, swap.Grant{Token: token, Spender: spender, Kind: swap.ByPermit2})
		}
	}
	slices.SortFunc(all, compare)
	for _, s := range []string{"", "/", "//", "///", cursorOf(all[0]), cursorOf(all[len(all)-1]), cursorOf(all[3]) + "/", cursorOf(swap.Grant{Token: usdc, Spender: usdc, Kind: "zzz"}), cursorOf(swap.Grant{Token: weth, Spender: thief, Kind: ""})} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		rest, err := pairsAfter(all, cursor)
		if err != nil {
			if !errors.Is(err, &swap.Refusal{Code: swap.BadRequest}) {
				t.Fatal(err)
			}
			return
		}
		if !slices.Equal(rest, all[len(all)-len(rest):]) {
			t.Fatalf("%q gets %v", cursor, rest)
		}
		for i, g := range all {
			if cursorOf(g) == cursor && len(rest) != len(all)-i-1 {
				t.Fatalf("%q gets %d of %d", cursor, len(rest), len(all))
			}
		}
		if len(rest) > 0 && len(rest) < len(all) { // pages do not overlap
			if again, err := pairsAfter(all, cursorOf(all[len(all)-len(rest)-1])); err != nil || len(again) != len(rest) {
				t.Fatalf("%q: %d, then %d: %v", cursor, len(rest), len(again), err)
			}
		}
	})
}
