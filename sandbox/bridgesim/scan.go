package bridgesim

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"swapkeep/internal/clock"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// rescanBlocks is the number of earlier blocks that are read again with each new one, in case of
// a reorganisation.
const rescanBlocks = 64

// scanState is the last block whose logs were read.
type scanState struct {
	head  common.Hash
	block uint64
}

// scanLogs reads deposits and routed swaps from the chain's new blocks.
func (s *Server) scanLogs(ctx context.Context, m *market) error {
	head, err := m.Client.HeaderByNumber(ctx, nil)
	if err != nil || head.Hash() == m.scanned.head {
		return err
	}
	from := min(m.scanned.block, head.Number.Uint64())
	from -= min(from, rescanBlocks)
	logs, err := m.Client.FilterLogs(ctx, ethereum.FilterQuery{
		FromBlock: new(big.Int).SetUint64(from), ToBlock: head.Number, Addresses: m.contractsOf(),
	})
	if err != nil {
		return err
	}
	for _, l := range logs {
		s.recordLog(m, l)
	}
	m.scanned = scanState{head.Hash(), head.Number.Uint64()}
	return nil
}

// recordLog records the deposit or swap of a log in its order.
func (s *Server) recordLog(m *market, l types.Log) {
	seen, id, routed := m.decodeLog(l)
	if seen == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.book.orders, func(o *order) bool {
		if o.origin != m || o.deposit != nil {
			return false
		}
		return (o.crosses() && !routed && o.id == id) || (!o.crosses() && routed && o.request == id)
	})
	if i < 0 {
		return
	}
	o := s.book.orders[i]
	seen.at, o.deposit = clock.Now(), seen
}

// decodeLog decodes a deposit or a router's swap, and the id in it. It returns nil for
// any other log.
func (m *market) decodeLog(l types.Log) (seen *deposit, id common.Hash, routed bool) {
	if l.Removed || len(l.Topics) == 0 {
		return nil, common.Hash{}, false
	}
	abi := m.abis.depository
	if l.Address != m.Bridge().Depository {
		abi = m.abis.router
	}
	event, err := abi.EventByID(l.Topics[0])
	if err != nil {
		return nil, common.Hash{}, false
	}
	values, err := event.Inputs.Unpack(l.Data)
	if err != nil {
		return nil, common.Hash{}, false
	}
	seen = &deposit{tx: l.TxHash}
	switch event.Name {
	case "RelayNativeDeposit":
		seen.from, seen.amount = values[0].(common.Address), values[1].(*big.Int)
		return seen, values[2].([32]byte), false
	case "RelayErc20Deposit":
		seen.from, seen.currency, seen.amount = values[0].(common.Address), values[1].(common.Address), values[2].(*big.Int)
		return seen, values[3].([32]byte), false
	case "Routed":
		seen.currency, seen.amount = values[1].(common.Address), values[2].(*big.Int)
		return seen, values[0].([32]byte), true
	}
	return nil, common.Hash{}, false
}

// mined returns a transaction's receipt, nil if there is none yet. lost means that the
// chain does not know the transaction.
func (m *market) mined(ctx context.Context, tx common.Hash) (receipt *types.Receipt, lost bool, err error) {
	receipt, err = m.Receipt(ctx, tx)
	if err == nil {
		return receipt, false, nil
	}
	if !errors.Is(err, ethereum.NotFound) {
		return nil, false, err
	}
	_, _, err = m.Client.TransactionByHash(ctx, tx)
	if errors.Is(err, ethereum.NotFound) {
		return nil, true, nil
	}
	return nil, false, err
}
