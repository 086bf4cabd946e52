package lines

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"swapkeep/chain"
	"swapkeep/extension/messages"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// amount tells an amount in full. One of a token that is not built in carries its symbol in
// quotation marks, the token's whole address and the base units: the symbol and the decimals are
// the token's own word.
func (b *builder) amount(chainID uint64, token common.Address, n *big.Int) swap.Arg {
	t := b.Token(chainID, token)
	value := decimal(n, t.Decimals)
	switch {
	case t.BuiltIn:
		return swap.Arg{Kind: swap.NumberArg, Value: value, Unit: t.Symbol}
	case t.Symbol == "":
		return swap.Arg{Kind: swap.UnitsArg, Value: n.String(), Unit: b.token(chainID, token).Value}
	}
	return swap.Arg{Kind: swap.NumberArg, Value: value, Unit: quoted(t.Symbol) + " (" + token.Hex() + ", " + n.String() + " / 10^" + strconv.Itoa(int(t.Decimals)) + ")"}
}

// token names a token.
func (b *builder) token(chainID uint64, token common.Address) swap.Arg {
	switch t := b.Token(chainID, token); {
	case t.BuiltIn:
		return text(t.Symbol)
	case token == chain.Native && t.Symbol == "":
		return text("coin, chain " + strconv.FormatUint(chainID, 10))
	case t.Symbol == "":
		return text(token.Hex())
	default:
		return text(quoted(t.Symbol) + " (" + token.Hex() + ")")
	}
}

func (b *builder) network(chainID uint64) swap.Arg {
	if name := b.Network(chainID); name != "" {
		return text(name)
	}
	return text(strconv.FormatUint(chainID, 10))
}

// contract names a contract by its whole address, and by its name if it is built in.
func (b *builder) contract(chainID uint64, a common.Address) swap.Arg {
	if name := b.Contract(chainID, a); name != "" {
		return text(name + " (" + a.Hex() + ")")
	}
	return address(a)
}

// Text returns a line in a language (see [messages.Languages]).
func Text(language string, l swap.Line) string {
	args := make([]messages.Arg, len(l.Args))
	for i, a := range l.Args {
		args[i] = messages.Arg{Kind: string(a.Kind), Value: a.Value, Unit: a.Unit}
	}
	return messages.Line(language, l.Key, args)
}

// quoted bounds a name from outside and puts it in quotation marks. Characters other than plain
// ASCII appear by number: none can look like another, change the direction of what stands
// beside it, or be missing in a font.
func quoted(s string) string { return "“" + plain(s) + "”" }

// quotedUnlessPlain quotes a value only if it has other characters than letters, digits and
// those of numbers.
func quotedUnlessPlain(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune(".,_-", r) && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) < 0 {
		return plain(s)
	}
	return quoted(s)
}

// maxText bounds what comes from outside, in characters.
const maxText = 60

func plain(s string) string {
	var out strings.Builder
	for i, r := range []rune(s) {
		switch {
		case i == maxText:
			return out.String() + "..."
		case r == '"' || r == '\\':
			out.WriteByte('\'')
		case r >= ' ' && r < unicode.MaxASCII && !strings.ContainsRune("<>&", r): // no dialog takes it for markup
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, "[U+%04X]", r)
		}
	}
	return out.String()
}

// decimal formats n base units, with a point and no grouping, and without ending zeros.
func decimal(n *big.Int, decimals uint8) string {
	if n == nil {
		return "?"
	}
	s := new(big.Int).Abs(n).String()
	if pad := int(decimals) + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	whole, part := s[:len(s)-int(decimals)], strings.TrimRight(s[len(s)-int(decimals):], "0")
	if part != "" {
		whole += "." + part
	}
	if n.Sign() < 0 {
		return "-" + whole
	}
	return whole
}
