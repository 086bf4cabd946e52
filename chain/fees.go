package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"
)

// gasPriceOracle is the OP-stack predeploy that prices L1 data.
var gasPriceOracle = common.HexToAddress("0x420000000000000000000000000000000000000F")

// A head is what we read of a block. Its hash is the node's: on some chains it is not the
// hash of Ethereum's header fields.
type head struct {
	Number       hexutil.Uint64 `json:"number"`
	Hash         common.Hash    `json:"hash"`
	Time         hexutil.Uint64 `json:"timestamp"` // Unix seconds
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
	if b.Hash == (common.Hash{}) { // a pending block, at best
		return head{}, errors.New("a block without a hash")
	}
	return *b, nil
}

// blockTime converts a block's timestamp. Times beyond the year 9999 are clamped.
func blockTime(seconds hexutil.Uint64) time.Time {
	const last = 253_402_300_799
	return time.Unix(int64(min(seconds, last)), 0).UTC()
}

// latest asks e for its latest block, and records it as e's head.
func (e *endpoint) latest(ctx context.Context) (head, error) {
	b, err := e.block(ctx, "latest")
	if err == nil {
		e.recordHead(b)
	}
	return b, err
}

// GasPrice returns the gas prices at the latest block. It may be repeated. Errors:
// ErrNoNetwork, ErrNetworkEnded; others are temporary.
func (h *MultiClient) GasPrice(ctx context.Context, id uint64) (GasPrice, error) {
	p, err := h.runningPool(id)
	if err != nil {
		return GasPrice{}, err
	}
	g, err := p.gasPrice(ctx, common.Hash{})
	if err != nil {
		return GasPrice{}, err
	}
	h.addL1(ctx, p, g)
	return *g, nil
}

// gasPrice returns the gas prices at the latest block, without the L1 part; nil if that
// is still the block with hash seen.
func (p *pool) gasPrice(ctx context.Context, seen common.Hash) (*GasPrice, error) {
	g, err := read(ctx, p, func(ctx context.Context, e *endpoint) (*GasPrice, error) {
		b, err := e.latest(ctx)
		if err != nil || b.Hash == seen {
			return nil, err
		}
		return e.priceAt(ctx, p.network, b)
	})
	if err != nil {
		return nil, fmt.Errorf("gas price: %w", err)
	}
	return g, nil
}

// priceAt derives gas prices from b, e's latest block, the fee history and, where that
// gives no tips, e's own suggestion. On a network with a fee market a block without a
// base fee is an error: believing it would mean paying the whole suggested price.
func (e *endpoint) priceAt(ctx context.Context, n Network, b head) (*GasPrice, error) {
	g := &GasPrice{
		Chain: n.ID, Block: uint64(b.Number), Time: blockTime(b.Time),
		BaseFee: new(big.Int), NextBaseFee: new(big.Int), L1: n.L1Fee, hash: b.Hash,
	}
	suggest := e.eth.SuggestGasPrice
	if n.Fee == FeeMarket {
		if b.BaseFee == nil || b.BaseFee.ToInt().BitLen() > maxPriceBits {
			return nil, errors.New("no base fee, or an absurd one")
		}
		g.BaseFee, g.NextBaseFee = b.BaseFee.ToInt(), b.BaseFee.ToInt()
		tips, err := e.historyOf(ctx, g)
		switch {
		case err == nil:
			g.setFees(n, tips)
			return g, nil
		case !errors.Is(err, errNoHistory):
			return nil, err
		}
		suggest = e.eth.SuggestGasTipCap
	}
	price, err := suggest(ctx)
	if err != nil {
		return nil, err
	}
	if price.Sign() < 0 || price.BitLen() > maxPriceBits {
		return nil, errors.New("an absurd gas price")
	}
	g.setFees(n, suggestedTips(price))
	return g, nil
}

// historyOf returns the tips from the last blocks, and sets g's next base fee.
func (e *endpoint) historyOf(ctx context.Context, g *GasPrice) (tips [len(tiers)]*big.Int, err error) {
	var percentiles [len(tiers)]float64
	for i, t := range tiers {
		percentiles[i] = t.percentile
	}
	var raw json.RawMessage
	err = e.rpc.CallContext(ctx, &raw, "eth_feeHistory", hexutil.Uint64(historyBlocks), "latest", percentiles)
	if refusedMethod(err) {
		return tips, errNoHistory
	}
	if err != nil {
		return tips, err
	}
	h, err := readFeeHistory(raw)
	if err != nil {
		return tips, err
	}
	g.NextBaseFee = h.next(g.BaseFee)
	return h.tips()
}

// refusedMethod reports whether an endpoint was reached and did not serve a method, most
// likely because it lacks it. Some gateways say so with an HTTP status.
func refusedMethod(err error) bool {
	var answer rpc.Error
	var status rpc.HTTPError
	return errors.As(err, &answer) ||
		errors.As(err, &status) && status.StatusCode/100 == 4 && status.StatusCode != http.StatusTooManyRequests
}

// minReplacement returns the least that a replacement must offer where the old transaction offers
// x: an eighth more, a margin over the usual tenth, and always more than x.
func minReplacement(x *big.Int) *big.Int {
	if x.Sign() == 0 {
		return big.NewInt(1)
	}
	return eighths(x, 9)
}

// price returns what a unit of gas costs at the current base fee.
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

// Cost is CostAt at the tier Normal.
func (h *MultiClient) Cost(ctx context.Context, c Call) (Cost, error) {
	return h.CostAt(ctx, c, Normal)
}

// maxGas is more than any transaction can use; a higher estimate is a lie.
const maxGas = 1 << 32

// CostAt returns the cost of c's own transaction at a tier, without the value it sends.
// If c.Gas is 0 it estimates the gas and adds headroom: a fifth, or a tenth where the
// whole limit is charged. Errors: ErrWouldRevert, ErrFunds.
func (h *MultiClient) CostAt(ctx context.Context, c Call, t Tier) (Cost, error) {
	p, err := h.pool(c.ChainID)
	if err != nil {
		return Cost{}, err
	}
	limit, used := c.Gas, c.Gas
	if limit == 0 {
		if used, err = (reader{p}).EstimateGas(ctx, c.Msg()); err != nil {
			return Cost{}, fmt.Errorf("estimate gas: %w", wouldRevert(err))
		}
	}
	if used > maxGas {
		return Cost{}, fmt.Errorf("estimate gas: %d units are more than a block holds", used)
	}
	if limit == 0 {
		limit = used + used/5
		if p.network.ChargesLimit {
			limit = used + used/10
		}
	}
	if p.network.ChargesLimit {
		used = limit
	}
	g, err := p.gasPrice(ctx, common.Hash{})
	if err != nil {
		return Cost{}, err
	}
	fees := g.At(t)
	l1, err := h.l1Fee(ctx, p, c, limit, fees)
	if err != nil {
		return Cost{}, err
	}
	cost := newCost(limit, used, fees, l1)
	cost.Tier = t.orNormal()
	return cost, nil
}

// addL1 sets g's L1 fee: that of a plain transfer's data.
func (h *MultiClient) addL1(ctx context.Context, p *pool, g *GasPrice) {
	if p.network.L1Fee != L1FeeOP {
		return
	}
	transfer := Call{ChainID: p.network.ID, To: gasPriceOracle, Value: milli(1000)}
	if l1, err := h.l1Fee(ctx, p, transfer, 21000, g.Normal); err == nil {
		g.L1Fee = l1
	}
}

// maxL1Fee returns what an L1 fee of x may rise to. It moves with L1's base fee, which can
// rise by an eighth per L1 block; a quarter leaves room for two.
func maxL1Fee(x *big.Int) *big.Int { return new(big.Int).Add(x, new(big.Int).Rsh(x, 2)) }

// newCost computes the cost of a gas limit; used is the gas expected to be charged.
func newCost(limit, used uint64, fees Fees, l1 *big.Int) Cost {
	expected := new(big.Int).Mul(new(big.Int).SetUint64(used), fees.price())
	maxCost := new(big.Int).Mul(new(big.Int).SetUint64(limit), fees.GasFeeCap)
	maxCost.Add(maxCost, maxL1Fee(l1))
	return Cost{Gas: limit, Fees: fees, Expected: expected.Add(expected, l1), L1: l1, Max: maxCost}
}

// l1Fee returns the fee for data on L1, in wei. The oracle takes the unsigned transaction
// and adds the size of a signature itself.
func (h *MultiClient) l1Fee(ctx context.Context, p *pool, c Call, gas uint64, fees Fees) (*big.Int, error) {
	if p.network.L1Fee != L1FeeOP {
		return new(big.Int), nil
	}
	const anyNonce = 1 << 20 // encodes as long as a nonce gets
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

// word returns x as one ABI word.
func word(x *big.Int) []byte { return common.BigToHash(x).Bytes() }

// unsigned returns c as a transaction with that nonce, gas limit and fees.
func unsigned(c Call, nonce, gas uint64, fees Fees) *types.Transaction {
	if fees.Legacy {
		return types.NewTx(&types.LegacyTx{Nonce: nonce, To: &c.To, Value: c.Value, Data: c.Data, Gas: gas, GasPrice: fees.GasFeeCap})
	}
	return types.NewTx(&types.DynamicFeeTx{
		ChainID: new(big.Int).SetUint64(c.ChainID), Nonce: nonce, To: &c.To, Value: c.Value, Data: c.Data,
		Gas: gas, GasFeeCap: fees.GasFeeCap, GasTipCap: fees.GasTipCap,
	})
}
