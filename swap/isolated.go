package swap

import (
	"bytes"
	"math/big"
	"slices"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A call that cannot be decoded, to a contract that is not built in, is made from an
// isolated account: one that is used for a single order and owns nothing but what is moved
// to it for that. Whatever the call does, it can reach nothing else of the user's.

// An Isolation is what became of what was moved to an isolated account.
type Isolation struct {
	Returned []Returned `json:"returned,omitempty"` // transfers back to the account, mined, oldest first
	Left     []Spend    `json:"left,omitempty"`     // what stays there: moving it costs more than it is worth, or more of the coin than there is
}

// A Returned amount was moved back from an isolated account.
type Returned struct {
	Token  common.Address `json:"token"`
	Amount *big.Int       `json:"amount"`
	Tx     common.Hash    `json:"tx"`
}

// Isolates has the providers whose calls may be made from an isolated account.
func Isolates(k Kind) bool { return k == Intent || k == Bridge }

// From returns the account that makes the calls of the plan: Isolated if there is one.
func (t Terms) From() common.Address { return from(t.Account, t.Isolated) }

// From returns the account from which the provider is asked to take the input.
func (r QuoteRequest) From() common.Address { return from(r.Account, r.Isolated) }

// Accounts returns the accounts that a provider is told of; Isolated may be zero.
func (t Terms) Accounts() []common.Address {
	return []common.Address{t.Account, t.Recipient, t.RefundTo, t.Isolated}
}

// Accounts returns the accounts that the request names; Isolated may be zero.
func (r QuoteRequest) Accounts() []common.Address {
	return []common.Address{r.Account, r.Recipient, r.RefundTo, r.Isolated}
}

func from(account, isolated common.Address) common.Address {
	if isolated != (common.Address{}) {
		return isolated
	}
	return account
}

// IsIsolated reports whether the plan's calls are made from an isolated account.
func (t Terms) IsIsolated() bool { return t.Isolated != (common.Address{}) }

// IsOwn reports whether an account is one from which the plan's calls are made.
func (t Terms) IsOwn(a common.Address) bool {
	return a == t.Account || t.IsIsolated() && a == t.Isolated
}

// transferSelector is the selector of transfer(address,uint256) (EIP-20).
var transferSelector = []byte{0xa9, 0x05, 0x9c, 0xbb}

// transferLength is the length of that call's data in bytes.
const transferLength = 4 + 2*32

// TransferCall returns the call that moves an amount of a token or of the coin.
func TransferCall(chainID uint64, token, from, to common.Address, amount *big.Int) chain.Call {
	if token == chain.Native {
		return chain.Call{ChainID: chainID, From: from, To: to, Value: amount}
	}
	data := slices.Concat(transferSelector, common.LeftPadBytes(to[:], 32), common.BigToHash(amount).Bytes())
	return chain.Call{ChainID: chainID, From: from, To: token, Value: new(big.Int), Data: data}
}

// TransferOf reads a call of [TransferCall], in its one encoding.
func TransferOf(c chain.Call) (token, to common.Address, amount *big.Int, ok bool) {
	switch {
	case c.Value == nil:
	case len(c.Data) == 0:
		return chain.Native, c.To, c.Value, true
	case c.To != chain.Native && len(c.Data) == transferLength && bytes.HasPrefix(c.Data, transferSelector) && c.Value.Sign() == 0 && len(bytes.Trim(c.Data[4:16], "\x00")) == 0:
		return c.To, common.BytesToAddress(c.Data[16:36]), new(big.Int).SetBytes(c.Data[36:]), true
	}
	return token, to, nil, false
}

// FundSteps returns the steps by which the account moves the input, and gas (wei) for the
// calls that follow, to the isolated account. The gas goes first: a token without any could
// not be moved back if the rest never happens. And chain 143 reverts what sends its coin
// soon after another transaction of an account with less than its reserve.
func FundSteps(t Terms, gas *big.Int) []Step {
	if t.TokenIn == chain.Native {
		return []Step{fundStep(t, chain.Native, new(big.Int).Add(t.AmountIn, gas))}
	}
	return []Step{fundStep(t, chain.Native, gas), fundStep(t, t.TokenIn, t.AmountIn)}
}

func fundStep(t Terms, token common.Address, amount *big.Int) Step {
	c := TransferCall(t.SrcChain, token, t.Account, t.Isolated, amount)
	return Step{Kind: CallStep, Call: &c, Effect: FundEffect(c, token, amount)}
}

// FundEffect returns the effect of a call that moves an amount to the isolated account.
func FundEffect(c chain.Call, token common.Address, amount *big.Int) Effect {
	return Effect{Kind: Fund, Chain: c.ChainID, Target: c.To, Spends: []Spend{{token, amount}}}
}

// DecodeFund decodes a call of the account's own in a plan with an isolated account, which
// must be one of [FundSteps].
func DecodeFund(t Terms, c chain.Call) (Effect, error) {
	token, to, amount, ok := TransferOf(c)
	switch {
	case !ok || token != chain.Native && token != t.TokenIn:
		return Effect{}, RefuseField(Undecodable, "data", "the account's own call is no transfer of the input or the coin")
	case to != t.Isolated:
		return Effect{}, RefuseField(NotAsAccepted, "to", "the transfer is to %s, not to the isolated account %s", to, t.Isolated)
	}
	return FundEffect(c, token, amount), nil
}

// fundTarget returns whom the transfer of a token to the isolated account calls.
func (t Terms) fundTarget(token common.Address) common.Address {
	if token == chain.Native {
		return t.Isolated
	}
	return token
}

// fundedToken returns the token that an effect moves to the isolated account.
func fundedToken(f Effect) common.Address {
	if len(f.Spends) != 1 {
		return common.Address{}
	}
	return f.Spends[0].Token
}

// checkFund requires a transfer of exactly the input, or of the coin for gas within the
// accepted ceiling, to the isolated account. A transfer of the coin moves the input with
// the gas if that is the coin.
func checkFund(s checkContext, f Effect) error {
	t := s.t
	if len(f.Spends) != 1 || f.Spends[0].Amount == nil {
		return RefuseField(Undecodable, "spends", "a transfer to the isolated account moves one amount")
	}
	token, amount := f.Spends[0].Token, f.Spends[0].Amount
	gas := new(big.Int)
	switch {
	case !t.IsIsolated():
		return RefuseField(NotAsAccepted, "isolated", "the plan has no isolated account to move anything to")
	case f.Target != t.fundTarget(token):
		return RefuseField(NotAsAccepted, "to", "the transfer to the isolated account calls %s", f.Target)
	case len(f.Approves)+len(f.Receives)+len(f.Pays) != 0 || !f.Deadline.IsZero():
		return RefuseField(NotAsAccepted, "pays", "the transfer to the isolated account does more than that")
	case token != chain.Native:
		if token != t.TokenIn || amount.Cmp(t.AmountIn) != 0 {
			return RefuseField(NotAsAccepted, "amountIn", "not exactly the input goes to the isolated account").WithAmounts(OfInput, amount, t.AmountIn)
		}
	case t.TokenIn == chain.Native:
		gas.Sub(amount, t.AmountIn)
	default:
		gas.Set(amount)
	}
	if gas.Sign() < 0 || gas.Cmp(t.GasCeiling) > 0 {
		return RefuseField(NotAsAccepted, "gas", "the coin for gas that goes to the isolated account is not within the accepted limit").WithAmounts(OfCoin, gas, t.GasCeiling)
	}
	return nil
}

// checkFunding refuses a simulation in which the account itself, whose calls only move the
// input and gas to the isolated account, would lose anything else or grant an allowance. It
// returns the movements without those.
func (x Expected) checkFunding(t Terms, s chain.Simulation) ([]chain.Movement, error) {
	if !t.IsIsolated() {
		return s.Movements, nil
	}
	for _, g := range s.Grants {
		if g.Owner == t.Account {
			return nil, RefuseField(NotAsAccepted, "allowance", "the calls would let %s spend the account's token %s", g.Spender, g.Token)
		}
	}
	due := map[common.Address]*big.Int{}
	for _, f := range x.Effects {
		if f.Kind == Fund {
			due[fundedToken(f)] = f.Spends[0].Amount
		}
	}
	var rest []chain.Movement
	for _, m := range s.Movements {
		switch n := due[m.Token]; {
		case m.From != t.Account || m.To == t.Account:
			rest = append(rest, m)
		case m.ID != nil || m.To != t.Isolated || n == nil || m.Amount == nil || n.Cmp(m.Amount) != 0:
			return nil, RefuseField(NotAsAccepted, "movements", "the token %s would leave the account for %s", m.Token, m.To)
		default:
			delete(due, m.Token)
		}
	}
	for token, n := range due {
		return nil, RefuseField(NotAsAccepted, "movements", "%s of the token %s would not reach the isolated account", n, token)
	}
	return rest, nil
}

// checkIsolated refuses terms with an isolated account that no plan could satisfy, or by
// which more than the input could be reached.
func (t Terms) checkIsolated() error {
	switch {
	case !t.IsIsolated():
		return nil
	case !Isolates(t.Provider):
		return RefuseField(BadRequest, "isolated", "%s uses no isolated account", t.Provider)
	case t.Isolated == t.Account || t.Isolated == t.Recipient || t.Isolated == t.RefundTo:
		return RefuseField(BadRequest, "isolated", "the isolated account must be another one than those that receive")
	case t.Wrap != (common.Address{}):
		return RefuseField(BadRequest, "wrap", "an isolated account wraps nothing")
	}
	return nil
}

// checkIsolatedPlan requires the transfers to the isolated account before its call.
func (t Terms) checkIsolatedPlan(effects []Effect) error {
	if !t.IsIsolated() {
		return nil
	}
	funds := func(token common.Address) bool {
		return slices.ContainsFunc(effects, func(f Effect) bool { return f.Kind == Fund && fundedToken(f) == token })
	}
	switch {
	case !funds(chain.Native) || !funds(t.TokenIn):
		return RefuseField(NotAsAccepted, "isolated", "the isolated account is not given what it needs")
	case effects[len(effects)-1].Kind != Opaque:
		return RefuseField(NotAsAccepted, "isolated", "an isolated account makes calls that cannot be decoded, and no %s", effects[len(effects)-1].Kind)
	}
	return nil
}
