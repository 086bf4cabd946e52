//go:build faults && linux

package crash

import (
	"errors"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox"
)

// zeroAmount is the amount that revokes an allowance.
var zeroAmount = new(big.Int)

var erc20Approve = common.FromHex("0x095ea7b3")

func approveData(spender common.Address, amount *big.Int) []byte {
	return slices.Concat(erc20Approve, pad32(spender[:]), pad32(amount.Bytes()))
}

func pad32(b []byte) []byte { return common.LeftPadBytes(b, 32) }

// approveForeign grants Permit2 a token's allowance from the same account, as another wallet would.
func approveForeign(token common.Address, amount *big.Int) func(*flowRun) error {
	return func(p *flowRun) error {
		tx, err := p.sendForeign(p.keys, &types.DynamicFeeTx{To: &token, Data: approveData(permit2, amount), Gas: 100_000}, usualTip)
		if err != nil {
			return err
		}
		p.foreignTxs[tx.Hash()] = true
		p.nonce++
		_, err = p.chain().MineTransaction(p.t.Context(), tx.Hash())
		return err
	}
}

// Tips of somebody who is in no hurry, and of somebody who is.
var usualTip, highTip = big.NewInt(2e9), big.NewInt(100e9)

// sendForeign sends a transaction to the node, not by the endpoint that the daemon uses.
func (p *flowRun) sendForeign(a sandbox.Account, tx *types.DynamicFeeTx, tip *big.Int) (*types.Transaction, error) {
	c := p.chain().Client()
	nonce, err := c.PendingNonceAt(p.t.Context(), a.Address)
	if err != nil {
		return nil, err
	}
	tx.ChainID, tx.Nonce, tx.GasTipCap = new(big.Int).SetUint64(p.flow.chain), nonce, tip
	tx.GasFeeCap = new(big.Int).Add(tip, times(2, p.chain().Head().BaseFee))
	signed, err := types.SignNewTx(a.Key, types.LatestSignerForChainID(tx.ChainID), tx)
	if err != nil {
		return nil, err
	}
	return signed, c.SendTransaction(p.t.Context(), signed)
}

// A sale is what the whale sells into one pool of the native coin and a token. Each pool
// has 100 times as much, so that the price falls by two percent in all of them and no route
// avoids it.
type sale struct {
	token  common.Address
	amount *big.Int
	fee    int64 // of the V3 pool, in millionths; 0: the V2 pair
}

// sales returns a sale for each pool of the flow's chain's native coin, and their sum.
func (p *flowRun) sales() (all []sale, sum *big.Int) {
	tokens := p.chain().Network.Tokens
	all = []sale{{tokens[0].Address, times(10, ether), 0}}
	for _, t := range tokens {
		all = append(all, sale{t.Address, times(1000, ether), 500}, sale{t.Address, times(100, ether), 3000})
	}
	sum = new(big.Int)
	for _, s := range all {
		sum.Add(sum, s.amount)
	}
	return all, sum
}

func (p *flowRun) whale() sandbox.Account { return p.lane.Accounts()[0] }

// feedWhale funds one fall of the price.
func (p *flowRun) feedWhale() error {
	_, sum := p.sales()
	return p.chain().Fund(p.t.Context(), p.whale().Address, native, sum.Add(sum, times(10, ether)))
}

// sellFirst makes the whale sell the native coin, before all others in the next block.
func (p *flowRun) sellFirst() error {
	wrapped, router := p.chain().Network.Wrapped.Address, p.chain().Network.Contracts.UniversalRouter
	all, sum := p.sales()
	var call routerCall
	call.add(0x0b, []string{"address", "uint256"}, routerItself, sum) // WRAP_ETH
	for _, s := range all {
		if s.fee == 0 {
			call.add(0x08, []string{"address", "uint256", "uint256", "address[]", "bool", "uint256[]"}, // V2_SWAP_EXACT_IN
				msgSender, s.amount, zeroAmount, []common.Address{wrapped, s.token}, false, []*big.Int{})
			continue
		}
		path := slices.Concat(wrapped[:], common.LeftPadBytes(big.NewInt(s.fee).Bytes(), 3), s.token[:])
		call.add(0x00, []string{"address", "uint256", "uint256", "bytes", "bool", "uint256[]"}, // V3_SWAP_EXACT_IN
			msgSender, s.amount, zeroAmount, path, false, []*big.Int{})
	}
	data, err := call.data()
	if err != nil {
		return err
	}
	_, err = p.sendForeign(p.whale(), &types.DynamicFeeTx{To: &router, Value: sum, Data: data, Gas: 3_000_000}, highTip)
	return err
}

// Recipients that have a special meaning to the Universal Router.
var msgSender, routerItself = common.BigToAddress(big.NewInt(1)), common.BigToAddress(big.NewInt(2))

// A routerCall is a list of Universal Router commands.
type routerCall struct {
	commands []byte
	inputs   [][]byte
	err      error
}

func (c *routerCall) add(command byte, of []string, values ...any) {
	input, err := pack(of, values...)
	c.commands, c.inputs, c.err = append(c.commands, command), append(c.inputs, input), errors.Join(c.err, err)
}

func (c *routerCall) data() ([]byte, error) {
	packed, err := pack([]string{"bytes", "bytes[]", "uint256"}, c.commands, c.inputs, new(big.Int).Lsh(big.NewInt(1), 40))
	selector := crypto.Keccak256([]byte("execute(bytes,bytes[],uint256)"))[:4]
	return slices.Concat(selector, packed), errors.Join(c.err, err)
}

func pack(of []string, values ...any) ([]byte, error) {
	args := make(abi.Arguments, len(of))
	for i, name := range of {
		t, err := abi.NewType(name, "", nil)
		if err != nil {
			return nil, err
		}
		args[i].Type = t
	}
	return args.Pack(values...)
}
