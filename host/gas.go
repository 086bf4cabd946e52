package host

import (
	"context"

	"swapkeep/chain"
	"swapkeep/host/protocol"
)

func (c *call) gasWatch(ctx context.Context, p *protocol.GasWatchParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	if p.Stop {
		c.unwatchGas(id)
		return protocol.GasWatchResult{ChainID: id}, nil
	}
	g, err := c.s.Networks.GasPrice(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := c.watchGas(id); err != nil {
		return nil, err
	}
	price := c.s.gasPriceOf(g)
	return protocol.GasWatchResult{ChainID: id, Watching: true, Price: &price}, nil
}

// watchGas pushes the network's gas prices to this connection until unwatchGas or the
// connection's end. Repeating it has no effect.
func (c *conn) watchGas(id uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gas[id] != nil {
		return nil
	}
	ctx, stop := context.WithCancel(c.ctx)
	if err := c.s.Networks.WatchGas(ctx, id, func(g chain.GasPrice) { c.notify("gas.price", c.s.gasPriceOf(g)) }); err != nil {
		stop()
		return err
	}
	if c.gas == nil {
		c.gas = map[uint64]context.CancelFunc{}
	}
	c.gas[id] = stop
	return nil
}

func (c *conn) unwatchGas(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.gas[id]; stop != nil {
		stop()
		delete(c.gas, id)
	}
}

func (s *Server) gasPriceOf(g chain.GasPrice) protocol.GasPrice {
	out := protocol.GasPrice{
		ChainID: g.Chain, Block: g.Block, Time: g.Time.UTC(),
		Slow: gasTierOf(g.Slow), Normal: gasTierOf(g.Normal), Fast: gasTierOf(g.Fast),
		L1: string(g.L1), L1Transfer: amountOf(g.L1Fee), CoinUSD: s.coinPrice(g.Chain),
	}
	if !g.Normal.Legacy {
		out.BaseFee, out.NextBaseFee = amountOf(g.BaseFee), amountOf(g.NextBaseFee)
	}
	return out
}

func gasTierOf(f chain.Fees) protocol.GasTier {
	if f.Legacy {
		return protocol.GasTier{GasPrice: amountOf(f.GasFeeCap)}
	}
	return protocol.GasTier{MaxFee: amountOf(f.GasFeeCap), MaxPriorityFee: amountOf(f.GasTipCap)}
}
