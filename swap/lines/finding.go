package lines

import (
	"math/big"
	"slices"
	"strconv"

	"swapkeep/chain"
	"swapkeep/extension/messages"
	"swapkeep/swap"
)

// toldOtherwise are the findings of which the lines of the swap itself say more.
var toldOtherwise = []string{"settlement_trusted", "wraps_first"}

// finding adds a finding in the words of the catalogue. One whose values are missing is told
// by its code, since it must not be left out.
func (b *builder) finding(f swap.Finding) {
	if f.Severity == swap.Note && slices.Contains(toldOtherwise, f.Code) {
		return
	}
	key := "finding_" + f.Code
	if !known(key) {
		b.add(f.Severity, findingCode, text(plain(f.Code)))
		return
	}
	var args []swap.Arg
	for _, form := range messages.Forms(key) {
		a, ok := b.value(form[1], f.Data[form[0]])
		if !ok {
			b.add(f.Severity, findingCode, text(plain(f.Code)))
			return
		}
		args = append(args, a)
	}
	b.add(f.Severity, key, args...)
}

// value returns a finding's value in the form that its message wants.
func (b *builder) value(form, value string) (a swap.Arg, ok bool) {
	t := b.r.Terms
	n, isNumber := new(big.Int).SetString(value, 10)
	switch form {
	case "text":
		return text(quotedUnlessPlain(value)), value != ""
	case "tokenIn":
		return b.amount(t.SrcChain, t.Input(), n), isNumber
	case "tokenOut":
		return b.amount(t.DstChain, t.TokenOut, n), isNumber
	case "coin", "worth":
		return b.amount(t.SrcChain, chain.Native, n), isNumber
	case "basisPoints":
		bps, err := strconv.Atoi(value)
		return percent(bps), err == nil
	case "trusted":
		return word("trusted_" + value), known("trusted_" + value)
	case "error":
		return word("err_" + value), known("err_" + value)
	}
	return a, false
}

func known(key string) bool {
	_, ok := messages.Text(key)
	return ok
}
