package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

var (
	toyAccount = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") // public account of the test mnemonic
	toyFriend  = common.HexToAddress("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
	toyRouter  = common.HexToAddress("0x00000000000000000000000000000000000070Ff")
	toyIn      = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	toyOut     = common.HexToAddress("0x4200000000000000000000000000000000000006")

	toyNow  = time.Unix(1_799_999_000, 0).UTC()
	toyEnds = time.Unix(1_800_000_000, 0).UTC()
)

// A lenience names a check that the toy omits. The strict toy is honest.
type lenience string

const (
	strict        lenience = ""
	anyAmount     lenience = "amount"
	anyRecipient  lenience = "recipient"
	anySpender    lenience = "spender"
	anyMinimum    lenience = "minimum"
	anyTarget     lenience = "target"
	anyTail       lenience = "tail"
	anyName       lenience = "names"
	noName        lenience = "added" // too strict
	withoutCodes  lenience = "codes"
	withoutReason lenience = "reason" // from here on: mistakes of the suite itself
	idleReason    lenience = "idle"
	toleratedLie  lenience = "attack"
)

// toy is a provider of one swap, whose only step is a call of five words: token, amount,
// recipient, minimum and deadline.
type toy struct {
	base  string
	blind lenience
}

func (toy) Kind() swap.Kind { return swap.DEX }
func (toy) Pins() swap.Pins { return swap.Pins{{Chain: 8453, Role: swap.Router, Address: toyRouter}} }

// refuse makes a refusal, without a code if that is the toy's lenience.
func (p toy) refuse(c swap.Code, why string) error {
	if p.blind == withoutCodes {
		return errors.New(why)
	}
	return swap.Refuse(c, "%s", why)
}

func (p toy) get(ctx context.Context, path string, reply any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case p.blind == anyName:
		err = json.Unmarshal(raw, reply)
	case p.blind == noName && path == "/quote":
		err = rest.DecodeStrict(raw, reply)
	default:
		err = rest.DecodeRow(raw, reply)
	}
	if err != nil {
		return p.refuse(swap.ProviderInvalidResponse, "a reply of no known form")
	}
	return nil
}

func (p toy) Quote(ctx context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	var reply struct {
		AmountOut string `json:"amountOut"`
		Minimum   string `json:"minimum"`
	}
	if err := p.get(ctx, "/quote", &reply); err != nil {
		return nil, err
	}
	if !decimalForm.MatchString(reply.AmountOut) || !decimalForm.MatchString(reply.Minimum) {
		return nil, p.refuse(swap.ProviderInvalidResponse, "no amounts")
	}
	out, minOut := Wei(reply.AmountOut), Wei(reply.Minimum)
	lowest := new(big.Int).Div(new(big.Int).Mul(out, big.NewInt(int64(10_000-r.SlippageBps))), big.NewInt(10_000))
	if p.blind != anyMinimum && (minOut.Cmp(lowest) < 0 || minOut.Cmp(out) > 0) {
		return nil, p.refuse(swap.NotAsAccepted, "the minimum is not within the slippage")
	}
	return []swap.Offer{{
		Provider: swap.DEX, Request: r, Routing: "TOY", AmountOut: out, MinOut: minOut, Expires: toyNow.Add(time.Minute), Raw: json.RawMessage(`{}`),
	}}, nil
}

func (p toy) Build(ctx context.Context, _ swap.Offer, t swap.Terms) (swap.Built, error) {
	var reply struct {
		Spender common.Address `json:"spender"`
		To      common.Address `json:"to"`
		Data    hexutil.Bytes  `json:"data"`
	}
	if err := p.get(ctx, "/build", &reply); err != nil {
		return swap.Built{}, err
	}
	if p.blind != anySpender && reply.Spender != toyRouter {
		return swap.Built{}, p.refuse(swap.NotPinned, "another spender")
	}
	call := chain.Call{ChainID: t.SrcChain, From: t.Account, To: reply.To, Value: new(big.Int), Data: reply.Data}
	return swap.Built{Steps: []swap.Step{{Kind: swap.CallStep, Call: &call}}, Settlement: swap.ByOwnCall, Spender: reply.Spender}, nil
}

func (p toy) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	c := s.Call
	if s.Kind != swap.CallStep || c == nil || c.From != t.Account || c.Value == nil || c.Value.Sign() != 0 {
		return swap.Effect{}, p.refuse(swap.NotAsAccepted, "not a call of the account's")
	}
	const selector, length = "70c0ffee", selectorLen + 5*wordLen
	if len(c.Data) < length || len(c.Data) != length && p.blind != anyTail || common.Bytes2Hex(c.Data[:selectorLen]) != selector {
		return swap.Effect{}, p.refuse(swap.Undecodable, "not a swap")
	}
	var words [5]common.Hash
	for i := range words {
		words[i] = common.Hash(c.Data[selectorLen+i*wordLen:][:wordLen])
	}
	if ends := words[4].Big(); !ends.IsInt64() || ends.Int64() != toyEnds.Unix() || words[0] != common.BytesToHash(t.TokenIn[:]) || words[2].Big().BitLen() > 160 {
		return swap.Effect{}, p.refuse(swap.NotAsAccepted, "not the accepted token or deadline")
	}
	f := swap.Effect{
		Kind: swap.Swap, Chain: c.ChainID, Target: c.To, Deadline: toyEnds,
		Spends:   []swap.Spend{{Token: t.TokenIn, Amount: words[1].Big()}},
		Receives: []swap.Receive{{Token: t.TokenOut, To: common.BytesToAddress(words[2][:]), Min: words[3].Big()}},
	}
	p.overlook(t, &f)
	return f, nil
}

// overlook replaces an effect by the accepted value if the toy does not check it.
func (p toy) overlook(t swap.Terms, f *swap.Effect) {
	switch p.blind {
	case anyAmount:
		f.Spends[0].Amount = t.AmountIn
	case anyRecipient:
		f.Receives[0].To = t.Recipient
	case anyTarget:
		f.Target = toyRouter
	}
}

// toySuite is the suite of a toy with one lenience.
func toySuite(blind lenience) Suite {
	r := swap.QuoteRequest{
		Account: toyAccount, Recipient: toyFriend, RefundTo: toyAccount, SrcChain: 8453, DstChain: 8453,
		TokenIn: toyIn, TokenOut: toyOut, AmountIn: big.NewInt(1000), SlippageBps: 50,
	}
	s := Suite{
		Name: "toy", Dir: "testdata", Now: toyNow,
		New: func(_ testing.TB, base string, _ func() time.Time, _ rest.Limits) swap.Provider {
			return toy{base, blind}
		},
		Flows: []Flow{{
			Name: "base", Request: r, Deadline: toyEnds, Exchanges: []string{"quote.json", "build.json"}, Offer: Expected{Life: time.Minute},
			FreeWords: []Harmless{{Path: Word(3), Why: "a higher minimum", Lies: []string{"a byte", "one more", "doubled", "the top bit", "the maximum", "the attacker", "padded behind"}}},
		}},
		Harmless: []Harmless{
			{Path: "build:comment", Why: "never read"},
			{Path: "quote:amountOut", Why: "an estimate, within what the minimum and the slippage allow", Lies: []string{"one more", "one less"}, MayChange: []string{"offer.amountOut"}},
			{Path: "quote:minimum", Why: "a higher minimum", Lies: []string{"one more"}, MayChange: []string{"offer.minOut"}},
		},
		Attacks: []Attack{{Name: "a lie", Code: swap.Undecodable, Try: func(*testing.T) error {
			if blind == toleratedLie {
				return nil
			}
			return toy{blind: blind}.refuse(swap.Undecodable, "a lie")
		}}},
	}
	switch blind {
	case withoutReason:
		s.Harmless = s.Harmless[1:]
	case idleReason:
		s.Harmless = append(s.Harmless, Harmless{Path: "build:to", Why: "nobody knows"})
	}
	return s
}
