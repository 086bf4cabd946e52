package dex

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A lineOf is a line of a quote's output as a lying service writes it.
type lineOf struct {
	to           common.Address
	amount, bps  string
	min          string
	token        common.Address
	withoutToken bool
}

// TestSplit checks quotes whose fields agree with each other and still take more than
// requested. What they say about a minimum changes nothing.
func TestSplit(t *testing.T) {
	user := lineOf{to: testAccount, amount: "9980000", bps: "9980", min: "9930100"}
	ours := lineOf{to: testFeeTo, amount: "20000", bps: "20", min: "19900"}
	maker := lineOf{to: testMaker, amount: "20000", bps: "20", min: "19900"}
	with := func(l lineOf, change func(*lineOf)) lineOf { change(&l); return l }
	rest := func(amount, bps, min string) lineOf {
		return lineOf{to: testAccount, amount: amount, bps: bps, min: min}
	}
	for name, c := range map[string]struct {
		lines []lineOf
		want  swap.Code // "" = accepted
	}{
		"only our fee":                  {[]lineOf{user, ours}, ""},
		"our fee first":                 {[]lineOf{ours, user}, ""},
		"our fee and the maker's":       {[]lineOf{rest("9960000", "9960", "9910200"), ours, maker}, ""},
		"no fee":                        {[]lineOf{rest("10000000", "10000", "9950000")}, swap.NotAsAccepted},
		"our fee is larger":             {[]lineOf{rest("9979000", "9979", "9929105"), with(ours, func(l *lineOf) { l.amount, l.bps = "21000", "21" })}, swap.NotAsAccepted},
		"our fee is smaller":            {[]lineOf{rest("9981000", "9981", "9931095"), with(ours, func(l *lineOf) { l.amount, l.bps = "19000", "19" })}, swap.NotAsAccepted},
		"the maker's fee is larger":     {[]lineOf{rest("9959000", "9959", "9909205"), ours, with(maker, func(l *lineOf) { l.amount, l.bps = "21000", "21" })}, swap.NotAsAccepted},
		"more than the bps say":         {[]lineOf{rest("9959999", "9960", "9910200"), ours, with(maker, func(l *lineOf) { l.amount = "20001" })}, swap.NotAsAccepted},
		"half goes to another account":  {[]lineOf{rest("4980000", "9980", "4955100"), with(ours, func(l *lineOf) { l.amount = "5020000" })}, swap.NotAsAccepted},
		"bps above the whole":           {[]lineOf{with(user, func(l *lineOf) { l.bps = "9981" }), ours}, swap.ProviderInvalidResponse},
		"parts of a larger sum":         {[]lineOf{with(user, func(l *lineOf) { l.amount, l.min = "9990000", "9940050" }), ours}, swap.ProviderInvalidResponse},
		"a lower minimum":               {[]lineOf{with(user, func(l *lineOf) { l.min = "9930099" }), ours}, ""},
		"a minimum above the output":    {[]lineOf{with(user, func(l *lineOf) { l.min = "9980001" }), ours}, ""},
		"no minimum":                    {[]lineOf{with(user, func(l *lineOf) { l.min = "" }), ours}, ""},
		"a minimum of the whole output": {[]lineOf{with(user, func(l *lineOf) { l.min = l.amount }), ours}, ""},
		"our fee twice":                 {[]lineOf{user, with(ours, func(l *lineOf) { l.amount, l.bps = "10000", "10" }), with(ours, func(l *lineOf) { l.amount, l.bps = "10000", "10" })}, swap.NotAsAccepted},
		"the user twice":                {[]lineOf{with(user, func(l *lineOf) { l.amount, l.bps = "9970000", "9970" }), with(user, func(l *lineOf) { l.amount, l.bps = "10000", "10" }), ours}, swap.ProviderInvalidResponse},
		"nothing for the user":          {[]lineOf{ours, with(user, func(l *lineOf) { l.to = testAttacker })}, swap.NotAsAccepted},
		"four lines":                    {[]lineOf{user, ours, maker, maker}, swap.NotAsAccepted},
		"half a basis point":            {[]lineOf{with(user, func(l *lineOf) { l.bps = "9979.5" }), ours}, swap.Undecodable},
		"zero basis points":             {[]lineOf{rest("9980000", "9980", "9930100"), ours, with(maker, func(l *lineOf) { l.amount, l.bps = "0", "0" })}, swap.Undecodable},
		"another token":                 {[]lineOf{user, with(ours, func(l *lineOf) { l.token = testDAI })}, swap.NotAsAccepted},
		"a line without a token":        {[]lineOf{user, with(ours, func(l *lineOf) { l.withoutToken = true })}, swap.ProviderInvalidResponse},
	} {
		r := baseRequest()
		r.FeeBps = 20
		q, err := (&Provider{}).readQuote(quoteWith(t, r, c.lines), r)
		if codeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		o := q.offer
		if err == nil && o.MinOut.Cmp(minAfterSlippage(o.AmountOut, 50)) != 0 {
			t.Errorf("%s: at least %s of %s", name, o.MinOut, o.AmountOut)
		}
		if err == nil && (o.Fees[0].To != testFeeTo || o.AmountOut.Cmp(big.NewInt(9_959_996)) < 0) {
			t.Errorf("%s: %s, %+v", name, o.AmountOut, o.Fees)
		}
	}
}

// TestTwoRoutesHaveAMinimumEach: without a fee the vendor's router rounds down the minimum
// of each of two routes separately, so their sum may lose a base unit.
func TestTwoRoutesHaveAMinimumEach(t *testing.T) {
	r := baseRequest()
	r.FeeBps, r.FeeReceiver = 0, common.Address{}
	q, err := (&Provider{}).readQuote(quoteWith(t, r, []lineOf{{to: testAccount, amount: "10000000", bps: "10000"}}), r)
	if err != nil {
		t.Fatal(err)
	}
	sum := new(big.Int).Add(minAfterSlippage(big.NewInt(3_333_333), 50), minAfterSlippage(big.NewInt(6_666_667), 50))
	if q.offer.MinOut.Cmp(sum) > 0 {
		t.Errorf("at least %s, and two routes give %s", q.offer.MinOut, sum)
	}
}

// TestStatedMinimum checks that a quote's own minimum is reported where it differs from the
// minimum computed here, whatever it is. One that cannot be read counts as none and refuses
// nothing.
func TestStatedMinimum(t *testing.T) {
	r := baseRequest()
	r.FeeBps = 20
	ours := lineOf{to: testFeeTo, amount: "20000", bps: "20"}
	for min, want := range map[string]string{
		"9980000":               "9980000", // the whole amount, as in the official example of a fee
		"9930100":               "<nil>",   // the minimum, 9930098, within the rounding of a fee
		"9930096":               "<nil>",
		"9930101":               "9930101",
		"9930095":               "9930095", // below the minimum: the bytes enforce more
		"":                      "<nil>",
		"-1":                    "<nil>",
		"1e9":                   "<nil>",
		strings.Repeat("9", 79): "<nil>",
	} {
		q, err := (&Provider{}).readQuote(quoteWith(t, r, []lineOf{{to: testAccount, amount: "9980000", bps: "9980", min: min}, ours}), r)
		if err != nil || q.offer.MinOut.String() != "9930098" {
			t.Fatalf("stated minimum %q: offer's minimum %s, error %v", min, q.offer.MinOut, err)
		}
		if got := fmt.Sprint(q.offer.QuotedMin); got != want {
			t.Errorf("stated minimum %q: QuotedMin %s, want %s", min, got, want)
		}
	}
}

// quoteWith is a classic quote of 10,000,000 units of output, split into lines.
func quoteWith(t *testing.T, r swap.QuoteRequest, lines []lineOf) []byte {
	t.Helper()
	var out []string
	for _, l := range lines {
		token := r.TokenOut
		if l.token != (common.Address{}) {
			token = l.token
		}
		s := `{"recipient":"` + l.to.Hex() + `","amount":"` + l.amount + `","bps":` + l.bps
		if l.min != "" {
			s += `,"minAmount":"` + l.min + `"`
		}
		if !l.withoutToken {
			s += `,"token":"` + token.Hex() + `"`
		}
		out = append(out, s+"}")
	}
	raw := `{"routing":"CLASSIC","quote":{"chainId":8453,"swapper":"` + r.Account.Hex() + `","tradeType":"EXACT_INPUT","slippage":0.5,` +
		`"input":{"token":"` + r.TokenIn.Hex() + `","amount":"` + r.AmountIn.String() + `"},` +
		`"output":{"token":"` + r.TokenOut.Hex() + `","amount":"10000000","recipient":"` + r.Recipient.Hex() + `"},` +
		`"aggregatedOutputs":[` + strings.Join(out, ",") + `]}}`
	if !json.Valid([]byte(raw)) {
		t.Fatal(raw)
	}
	return []byte(raw)
}
