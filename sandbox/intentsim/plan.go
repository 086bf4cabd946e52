package intentsim

import (
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"swapkeep/sandbox/eip55"
)

// A plan is the list of actions of a deposit before it is sent.
type plan struct {
	quote    *quote
	contract common.Address
	deposit  *transaction // of the last action
	actions  []action
}

// stranger is an address unrelated to the wallet and the provider.
var stranger = common.HexToAddress("0x000000000000000000000000000000000000bAD1")

// plans are the ways in which a plan can be wrong, by name. Changes of single values are
// left to lies; see package inject.
var plans = map[string]func(p *plan){
	"wrong_from":           func(p *plan) { p.deposit.From = eip55.Address(stranger) },
	"wrong_chain":          func(p *plan) { p.deposit.ChainID = hexutil.EncodeUint64(p.quote.from.ID + 1) },
	"hex_chainid":          func(p *plan) { p.name(hexutil.EncodeUint64(p.quote.from.ID)) },
	"number_chainid":       func(p *plan) { p.name(p.quote.from.ID) },
	"missing_chain_switch": func(p *plan) { p.actions = slices.DeleteFunc(p.actions, isSwitch) },
	"switch_elsewhere":     func(p *plan) { p.before(0, switchTo(p.quote.from.ID+1)) },
	"unlimited_approve": func(p *plan) {
		p.approve(p.contract, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
	},
	"stranger_contract": func(p *plan) {
		p.deposit.To = eip55.Address(stranger)
		p.approve(stranger, p.quote.amountIn)
	},
	"stranger_spender": func(p *plan) { p.approve(stranger, p.quote.amountIn) },
	"extra_action":     func(p *plan) { p.before(len(p.actions)-1, p.steal()) },
	"foreign_method":   func(p *plan) { p.before(len(p.actions)-1, p.foreign()) },
	"solana":           func(p *plan) { p.before(len(p.actions)-1, action{Type: "solana_sendTransaction", Transaction: "AQ=="}) },
	"two_deposits":     func(p *plan) { p.before(len(p.actions)-1, p.actions[len(p.actions)-1]) },
	"no_deposit":       func(p *plan) { p.actions[len(p.actions)-1].Deposit = nil },
	"deposit_first":    func(p *plan) { slices.Reverse(p.actions) },
	"empty":            func(p *plan) { p.actions = []action{} },

	// These change only the deposit's calldata, which nobody else can decode.
	"greedy":      func(p *plan) { p.deposit.Data = p.take(p.quote.tokenIn.Address, new(big.Int).Lsh(p.quote.amountIn, 1)) },
	"modest":      func(p *plan) { p.deposit.Data = p.take(p.quote.tokenIn.Address, new(big.Int).Rsh(p.quote.amountIn, 1)) },
	"other_token": func(p *plan) { p.deposit.Data = p.take(p.another(), p.quote.amountIn) },
}

func isSwitch(a action) bool {
	return a.Request != nil && a.Request.Method == "wallet_switchEthereumChain"
}

func (p *plan) before(i int, a action) { p.actions = slices.Insert(p.actions, i, a) }

// transactions returns the plan's transactions, the deposit last.
func (p *plan) transactions() []*transaction {
	var all []*transaction
	for _, a := range p.actions {
		if tx, ok := a.Request.Params[0].(*transaction); ok {
			all = append(all, tx)
		}
	}
	return all
}

// name adds the chain id to every transaction.
func (p *plan) name(chainID any) {
	for _, tx := range p.transactions() {
		tx.ChainID = chainID
	}
}

// approve changes the spender and amount of the plan's approvals.
func (p *plan) approve(spender common.Address, amount *big.Int) {
	for _, tx := range p.transactions() {
		if tx != p.deposit {
			tx.Data = slices.Concat(selector("approve(address,uint256)"), common.LeftPadBytes(spender[:], 32), common.BigToHash(amount).Bytes())
		}
	}
}

// steal returns a transfer of the input to stranger.
func (p *plan) steal() action {
	tx := &transaction{From: p.deposit.From, To: eip55.Address(stranger), Value: hexutil.EncodeBig(p.quote.amountIn)}
	if p.quote.tokenIn.Address != native {
		tx.To, tx.Value = eip55.Address(p.quote.tokenIn.Address), "0x0"
		tx.Data = slices.Concat(selector("transfer(address,uint256)"), common.LeftPadBytes(stranger[:], 32), common.BigToHash(p.quote.amountIn).Bytes())
	}
	return send(tx, false)
}

func (p *plan) foreign() action {
	return action{Type: eip1193, Request: &walletRequest{"personal_sign", []any{"0x00", p.deposit.From}}}
}

// take returns the calldata of a deposit of another token or amount.
func (p *plan) take(token common.Address, amount *big.Int) hexutil.Bytes {
	return p.quote.from.layout.calldata(deposit{token: token, amount: amount, deadline: uint64(p.quote.validBefore)})
}

// another returns a token of the source chain other than the input.
func (p *plan) another() common.Address {
	tokens := p.quote.from.Tokens
	if len(tokens) > 1 && tokens[0].Address == p.quote.tokenIn.Address {
		return tokens[1].Address
	}
	return tokens[0].Address
}
