package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// gasPriceOracle is the OP-stack predeploy that prices L1 data.
var gasPriceOracle = common.HexToAddress("0x420000000000000000000000000000000000000F")

// A head is what we read of a block. Its hash is the node's: on some chains it
// is not the hash of the fields that Ethereum's header has.
type head struct {
	Number       hexutil.Uint64 `json:"number"`
	Hash         common.Hash    `json:"hash"`
	BaseFee      *hexutil.Big   `json:"baseFeePerGas"`
	Transactions []common.Hash  `json:"transactions"`
}

// block asks e for a block; ethereum.NotFound if it has none of that number.
func (e *endpoint) block(ctx context.Context, number string) (head, error) {
	var b *head
	if err := e.rpc.CallContext(ctx, &b, "eth_getBlockByNumber", number, false); err != nil {
		return head{}, err
	}
	if b == nil {
		return head{}, ethereum.NotFound
	}
	return *b, nil
}

// SuggestFees returns what a transaction should offer now: the fee cap leaves
// room for the base fee to double. Wei per gas.
func (h *Hub) SuggestFees(ctx context.Context, id uint64) (Fees, error) {
	p, err := h.pool(id)
	if err != nil {
		return Fees{}, err
	}
	latest, err := read(ctx, p, func(ctx context.Context, e *endpoint) (head, error) { return e.block(ctx, "latest") })
	if err != nil {
		return Fees{}, err
	}
	if p.network.LegacyFees || latest.BaseFee == nil {
		return legacyFees(ctx, p, latest)
	}
	base := latest.BaseFee.ToInt()
	tip, err := reader{p}.SuggestGasTipCap(ctx)
	if err != nil {
		return Fees{}, fmt.Errorf("suggest a tip: %w", err)
	}
	if base.Sign() < 0 || tip.Sign() < 0 {
		return Fees{}, errors.New("an rpc endpoint suggests negative fees")
	}
	limit := new(big.Int).Lsh(base, 1)
	return Fees{BaseFee: base, GasTipCap: tip, GasFeeCap: limit.Add(limit, tip)}, nil
}

// legacyFees offers the node's price and an eighth more: such chains move their
// minimum between quote and inclusion too.
func legacyFees(ctx context.Context, p *pool, latest head) (Fees, error) {
	price, err := reader{p}.SuggestGasPrice(ctx)
	if err != nil {
		return Fees{}, fmt.Errorf("suggest a gas price: %w", err)
	}
	if price.Sign() < 0 {
		return Fees{}, errors.New("an rpc endpoint suggests negative fees")
	}
	base := new(big.Int)
	if latest.BaseFee != nil {
		base = latest.BaseFee.ToInt()
	}
	price = raised(price)
	return Fees{BaseFee: base, GasFeeCap: price, GasTipCap: price, Legacy: true}, nil
}

// raised is x plus an eighth, rounded up: the least that a node must see before
// it replaces a transaction, with a margin over the usual tenth.
func raised(x *big.Int) *big.Int {
	y := new(big.Int).Mul(x, big.NewInt(9))
	y.Add(y, big.NewInt(7))
	return y.Rsh(y, 3)
}

// price is what a unit of gas costs at the present base fee.
func (f Fees) price() *big.Int {
	if f.Legacy {
		return f.GasFeeCap
	}
	now := new(big.Int).Add(f.BaseFee, f.GasTipCap)
	if now.Cmp(f.GasFeeCap) > 0 {
		return f.GasFeeCap
	}
	return now
}

// Cost prices c's own transaction, the value it sends left aside. Without
// c.Gas it estimates the gas and adds headroom: a fifth, or a tenth where the
// whole limit is charged. Errors: ErrWouldRevert, ErrFunds.
func (h *Hub) Cost(ctx context.Context, c Call) (Cost, error) {
	p, err := h.pool(c.ChainID)
	if err != nil {
		return Cost{}, err
	}
	limit, used := c.Gas, c.Gas
	if limit == 0 {
		if used, err = (reader{p}).EstimateGas(ctx, c.Msg()); err != nil {
			return Cost{}, fmt.Errorf("estimate gas: %w", wouldRevert(err))
		}
		limit = used + used/5
		if p.network.ChargesLimit {
			limit = used + used/10
		}
	}
	if p.network.ChargesLimit {
		used = limit
	}
	fees, err := h.SuggestFees(ctx, c.ChainID)
	if err != nil {
		return Cost{}, err
	}
	l1, err := h.l1Fee(ctx, p, c, limit, fees)
	if err != nil {
		return Cost{}, err
	}
	return newCost(limit, used, fees, l1), nil
}

// newCost multiplies out. The L1 part moves with L1's base fee, which can rise
// by an eighth each L1 block; Max leaves a quarter for that.
func newCost(limit, used uint64, fees Fees, l1 *big.Int) Cost {
	expected := new(big.Int).Mul(new(big.Int).SetUint64(used), fees.price())
	most := new(big.Int).Mul(new(big.Int).SetUint64(limit), fees.GasFeeCap)
	most.Add(most, l1).Add(most, new(big.Int).Rsh(l1, 2))
	return Cost{Gas: limit, Fees: fees, Expected: expected.Add(expected, l1), L1: l1, Max: most}
}

// l1Fee is the part paid for data on L1, in wei. The oracle takes the unsigned
// transaction and adds the size of a signature itself.
func (h *Hub) l1Fee(ctx context.Context, p *pool, c Call, gas uint64, fees Fees) (*big.Int, error) {
	if p.network.L1Fee != L1FeeOP {
		return new(big.Int), nil
	}
	const anyNonce = 1 << 20 // as long as a nonce gets
	raw, err := unsigned(c, anyNonce, gas, fees).MarshalBinary()
	if err != nil {
		return nil, err
	}
	out, err := reader{p}.CallContract(ctx, ethereum.CallMsg{To: &gasPriceOracle, Data: encodeGetL1Fee(raw)}, nil)
	if err != nil {
		return nil, fmt.Errorf("l1 fee: %w", err)
	}
	if len(out) == 0 && h.sandbox { // a chain without the predeploy
		return new(big.Int), nil
	}
	if len(out) != 32 {
		return nil, fmt.Errorf("l1 fee: the oracle answered %d bytes", len(out))
	}
	return new(big.Int).SetBytes(out), nil
}

// encodeGetL1Fee encodes getL1Fee(bytes).
func encodeGetL1Fee(raw []byte) []byte {
	data := []byte{0x49, 0x94, 0x8e, 0x0e}
	data = append(data, word(big.NewInt(32))...)
	data = append(data, word(big.NewInt(int64(len(raw))))...)
	return append(data, common.RightPadBytes(raw, (len(raw)+31)/32*32)...)
}

// word is x as one ABI word.
func word(x *big.Int) []byte { return common.BigToHash(x).Bytes() }

// unsigned is c as a transaction with that nonce, gas limit and fees.
func unsigned(c Call, nonce, gas uint64, fees Fees) *types.Transaction {
	if fees.Legacy {
		return types.NewTx(&types.LegacyTx{Nonce: nonce, To: &c.To, Value: c.Value, Data: c.Data, Gas: gas, GasPrice: fees.GasFeeCap})
	}
	return types.NewTx(&types.DynamicFeeTx{
		ChainID: new(big.Int).SetUint64(c.ChainID), Nonce: nonce, To: &c.To, Value: c.Value, Data: c.Data,
		Gas: gas, GasFeeCap: fees.GasFeeCap, GasTipCap: fees.GasTipCap,
	})
}
