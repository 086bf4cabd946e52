package live

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"swapkeep/chain"
	"swapkeep/priceapi/onchain"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// maxNamed limits how many deviating items a row names.
const maxNamed = 5

// A tally collects the results for many items of a kind.
type tally struct {
	right               int
	differ, unavailable []string
}

func (t *tally) add(name string, v Verdict, how string) {
	switch v {
	case Works:
		t.right++
	case Differs:
		t.differ = append(t.differ, name+": "+how)
	default:
		t.unavailable = append(t.unavailable, name+": "+how)
	}
}

// rows returns one row for all items that are right, and one per other verdict.
func (t tally) rows(subject string, id uint64, kind string) (rows []Row) {
	if t.right > 0 {
		rows = append(rows, Row{subject, id, fmt.Sprintf("%d %s", t.right, kind), Works, ""})
	}
	for _, some := range []struct {
		Verdict
		list []string
	}{{Differs, t.differ}, {NotAvailable, t.unavailable}} {
		if len(some.list) > 0 {
			rows = append(rows, Row{subject, id, fmt.Sprintf("%d %s", len(some.list), kind), some.Verdict, summarize(some.list)})
		}
	}
	return rows
}

// summarize joins the first items of a list and counts the rest.
func summarize(list []string) string {
	named := strings.Join(list[:min(len(list), maxNamed)], "; ")
	if more := len(list) - maxNamed; more > 0 {
		named += fmt.Sprintf("; and %d more", more)
	}
	return named
}

// tokensPerCall limits how many tokens one call asks about.
const tokensPerCall = 50

// checkTokens checks what the tokens of the built-in list say of themselves: the decimals, on
// which every amount depends, and the symbol. A sandbox has only some of the tokens.
func (w World) checkTokens(ctx context.Context, n chain.Network) []Row {
	ours := slices.DeleteFunc(slices.Clone(w.Tokens), func(t tokens.Token) bool { return t.Chain != n.ID || t.Address == tokens.Native })
	var decimals, symbols tally
	for some := range slices.Chunk(ours, tokensPerCall) {
		var qs []chain.Question
		for _, t := range some {
			qs = append(qs, question(t.Address, "decimals()"), question(t.Address, "symbol()"))
		}
		answers, err := w.Nodes.Ask(ctx, n.ID, qs)
		for i, t := range some {
			if err != nil {
				decimals.add(t.Symbol, verdictOf(err), err.Error())
				continue
			}
			w.checkToken(t, answers[2*i], answers[2*i+1], &decimals, &symbols)
		}
	}
	return append(decimals.rows("tokens", n.ID, "built-in tokens"), symbols.rows("tokens", n.ID, "symbols")...)
}

func (w World) checkToken(t tokens.Token, said, symbol []byte, decimals, symbols *tally) {
	if w.Sandbox && len(said)+len(symbol) == 0 {
		return
	}
	if !isDecimals(said) || said[31] != t.Decimals {
		decimals.add(t.Symbol, Differs, fmt.Sprintf("its decimals are 0x%x, and not %d", said, t.Decimals))
		return
	}
	decimals.add(t.Symbol, Works, "")
	if s := symbolOf(symbol); s != t.Symbol && !slices.Contains(renamed[t.Symbol], s) && !strings.EqualFold(s, t.Symbol) {
		symbols.add(t.Symbol, Differs, fmt.Sprintf("%s calls itself %q", t.Address, s))
	}
}

// renamed are symbols that lists give to tokens, with those that the contracts may have.
var renamed = map[string][]string{"USDC.e": {"USDC"}, "USDT": {"USD₮0", "USDT0"}, "USDT0": {"USD₮0"}, "WETH": {"ETH"}}

// symbolOf decodes a symbol, which some old tokens return as one word.
func symbolOf(answer []byte) string {
	if len(answer) == 32 {
		return string(bytes.TrimRight(answer, "\x00"))
	}
	return text(answer)
}

func question(to common.Address, method string) chain.Question {
	return chain.Question{To: to, Data: crypto.Keccak256([]byte(method))[:4]}
}

// isDecimals reports whether an ABI word is a valid number of decimals.
func isDecimals(word []byte) bool {
	return len(word) == 32 && string(word[:31]) == string(make([]byte, 31)) && word[31] <= tokens.MaxDecimals
}

// checkOracles checks the oracles of a network. A sandbox has only some of them.
func (w World) checkOracles(ctx context.Context, n chain.Network) []Row {
	var all tally
	for _, o := range w.Oracles {
		if o.Chain != n.ID {
			continue
		}
		if w.Sandbox {
			if ok, err := w.Nodes.IsContract(ctx, n.ID, o.Address); err == nil && !ok {
				continue
			}
		}
		v, how := w.oracle(ctx, o)
		all.add(o.Name, v, how)
	}
	return all.rows("oracles", n.ID, "oracles")
}

// oracle checks that an oracle measures what we expect, and that it has valid decimals,
// which are read together with its price.
func (w World) oracle(ctx context.Context, o onchain.Oracle) (Verdict, string) {
	ask := func(method string) ([]byte, error) {
		return w.Nodes.AskQuorum(ctx, o.Chain, question(o.Address, method))
	}
	description, err := ask("description()")
	if err != nil {
		return verdictOf(err), err.Error()
	}
	if !sameMeasure(words(text(description)), words(o.Name)) {
		return Differs, fmt.Sprintf("%s says that it measures %q", o.Address, text(description))
	}
	switch decimals, err := ask("decimals()"); {
	case err != nil:
		return verdictOf(err), err.Error()
	case !isDecimals(decimals):
		return Differs, fmt.Sprintf("%s says that its decimals are 0x%x", o.Address, decimals)
	}
	return Works, ""
}

// sameMeasure compares an oracle's description with its name in the address book, for
// example "ETH / USD" with ETH__USD. Both are given as words without those in how.
func sameMeasure(description, name []string) bool {
	return len(description) > 0 && strings.Join(description, " ") == strings.Join(name, " ")
}

// methodWords are words that say how a price is made, not of what.
var methodWords = map[string]bool{"calculated": true, "exchange": true, "rate": true, "price": true, "feed": true, "capped": true, "svr": true}

func words(s string) (list []string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') }) {
		if !methodWords[word] {
			list = append(list, word)
		}
	}
	return list
}

// text decodes a short ABI string, such as an oracle's description.
func text(answer []byte) string {
	if len(answer) < 64 {
		return ""
	}
	n := int(answer[63])
	if string(answer[32:63]) != string(make([]byte, 31)) || n > len(answer)-64 {
		return ""
	}
	return string(answer[64 : 64+n])
}
