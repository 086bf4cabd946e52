package dex

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"swapkeep/providers/providertest"
	"swapkeep/swap"
)

// Attacks are the named lies that TestHostile tells the provider.
func Attacks(t *testing.T) []providertest.Attack {
	terms := ethToUSDC()
	free := terms
	free.FeeBps, free.FeeReceiver = 0, nativeCoin
	return slices.Concat(
		programs("program", terms, attacks), programs("program without fee", free, feeless),
		programs("program to the native coin", nativeOut(), nativePrograms), programs("program that wraps", routerWrap(), wrapPrograms),
		programs("program over V3 and V2", usdcToWETH(), mixedPrograms),
		otherEncodings(t, terms), orderAttacks(t), dataAttacks(), statusAttacks(t),
	)
}

func programs(of string, terms swap.Terms, table map[string]hostileProgram) []providertest.Attack {
	return providertest.AttacksFrom(of, table, func(p hostileProgram) providertest.Attack {
		return providertest.Attack{Code: p.code, Field: p.field, Try: func(t *testing.T) error {
			_, err := checked(terms, program(t, testDeadline.Unix(), p.list))
			return err
		}}
	})
}

func otherEncodings(t *testing.T, terms swap.Terms) []providertest.Attack {
	understood := map[string]bool{"encoding/too late": true, "encoding/command 06": true} // and still not what was accepted
	list := providertest.AttacksFrom("encoding", encodings(t), func(data []byte) providertest.Attack {
		return providertest.Attack{Code: swap.Undecodable, Try: func(*testing.T) error {
			_, err := checked(terms, data)
			return err
		}}
	})
	for i, a := range list {
		if understood[a.Name] {
			list[i].Code = swap.NotAsAccepted
		}
	}
	return list
}

func orderAttacks(t *testing.T) (list []providertest.Attack) {
	for _, name := range recordedAuctions {
		table := liesAbout(recordedOrder(t, name+".quote.json"))
		list = append(list, providertest.AttacksFrom("order/"+name+"/quoted", table, func(c orderLie) providertest.Attack {
			return providertest.Attack{Code: c.want, Try: func(t *testing.T) error { return c.quoted(t, name) }}
		})...)
		maps.DeleteFunc(table, func(_ string, c orderLie) bool { return c.quotedOnly })
		list = append(list, providertest.AttacksFrom("order/"+name+"/to be signed", table, func(c orderLie) providertest.Attack {
			return providertest.Attack{Code: cmp.Or(c.instead, c.want), Try: func(t *testing.T) error { return c.signed(t, name) }}
		})...)
	}
	return list
}

// dataAttacks are lies about what is signed: in typed data, in permits, and in calldata
// that carries a permit.
func dataAttacks() []providertest.Attack {
	return slices.Concat(
		providertest.AttacksFrom("typed data", dataLies, func(c replyLie) providertest.Attack {
			return providertest.Attack{Code: c.want, Try: func(t *testing.T) error { return c.read(t, "base-auction", usdcRequest()) }}
		}),
		providertest.AttacksFrom("permit", permitLies, func(c permitLie) providertest.Attack {
			return providertest.Attack{Code: c.want, Try: c.quoted}
		}),
		providertest.AttacksFrom("deferred call", lateLies, func(l lateLie) providertest.Attack {
			return providertest.Attack{Code: l.code, Try: func(t *testing.T) error { return late(t, l.lie) }}
		}),
	)
}

func statusAttacks(t *testing.T) []providertest.Attack {
	return providertest.AttacksFrom("status", statusLies(t), func(c statusLie) providertest.Attack {
		return providertest.Attack{Code: c.want, Try: func(t *testing.T) error {
			_, err := asked(t, c.status, c.body)
			return err
		}}
	})
}

// TestHonestPrograms checks that the honest programs in the tables of attacks are accepted.
func TestHonestPrograms(t *testing.T) {
	for _, c := range []struct {
		terms swap.Terms
		table map[string]hostileProgram
	}{{nativeOut(), nativePrograms}, {routerWrap(), wrapPrograms}, {usdcToWETH(), mixedPrograms}} {
		for name, p := range c.table {
			if _, err := checked(c.terms, program(t, testDeadline.Unix(), p.list)); p.code == "" && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
