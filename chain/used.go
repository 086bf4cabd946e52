package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
)

// Used reports for each of accounts whether it was used on a network: a nonce above zero,
// a native balance, or a balance of one of tokens. It takes two requests where the node
// accepts batches and has Multicall3; a node without batches gets two requests for each
// account. The node's operator learns that the accounts belong together. It may be
// repeated. Errors: ErrNoNetwork, ErrWrongChain, ErrUnreachable.
func (h *MultiClient) Used(ctx context.Context, id uint64, accounts, tokens []common.Address) ([]bool, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	used, err := read(ctx, p, func(ctx context.Context, e *endpoint) ([]bool, error) {
		used, err := active(ctx, e, accounts)
		if errors.Is(err, errNoBatch) {
			return activeEach(ctx, e, accounts)
		}
		return used, err
	})
	if err != nil {
		return nil, fmt.Errorf("used accounts: %w", err)
	}
	var questions []Question
	var indexes []int
	for i, a := range accounts {
		if used[i] {
			continue
		}
		for _, t := range tokens {
			questions, indexes = append(questions, Question{t, onAccounts(balanceOfSelector, a)}), append(indexes, i)
		}
	}
	answers, err := ask(ctx, reader{p}, questions)
	if err != nil {
		return nil, fmt.Errorf("used accounts: %w", err)
	}
	for q, balance := range amounts(answers, amount) {
		if balance != nil && balance.Sign() > 0 {
			used[indexes[q]] = true
		}
	}
	return used, nil
}

// errNoBatch means that the node does not accept a batch of requests, or not so long a
// one.
var errNoBatch = errors.New("node takes no batch")

// active asks for all nonces and native balances in one batch.
func active(ctx context.Context, e *endpoint, accounts []common.Address) ([]bool, error) {
	counts := make([]hexutil.Big, 2*len(accounts))
	batch := make([]rpc.BatchElem, 0, len(counts))
	for i, a := range accounts {
		batch = append(batch,
			rpc.BatchElem{Method: "eth_getTransactionCount", Args: []any{a, "latest"}, Result: &counts[2*i]},
			rpc.BatchElem{Method: "eth_getBalance", Args: []any{a, "latest"}, Result: &counts[2*i+1]})
	}
	if err := e.rpc.BatchCallContext(ctx, batch); err != nil {
		return nil, batchFailure(err)
	}
	used := make([]bool, len(accounts))
	for i := range batch {
		if batch[i].Error != nil {
			return nil, errNoBatch
		}
		used[i/2] = used[i/2] || counts[i].ToInt().Sign() > 0
	}
	return used, nil
}

// batchFailure tells a node that accepts no batch from one that fails.
func batchFailure(err error) error {
	var status rpc.HTTPError
	var answer rpc.Error
	var form *json.UnmarshalTypeError // one error in place of a list
	switch {
	case errors.As(err, &status) && status.StatusCode < http.StatusInternalServerError && status.StatusCode != http.StatusTooManyRequests,
		errors.As(err, &answer), errors.As(err, &form):
		return errNoBatch
	}
	return err
}

// activeEach asks for one account after the other.
func activeEach(ctx context.Context, e *endpoint, accounts []common.Address) ([]bool, error) {
	used := make([]bool, len(accounts))
	for i, a := range accounts {
		nonce, err := e.eth.NonceAt(ctx, a, nil)
		if err != nil {
			return nil, err
		}
		balance, err := e.eth.BalanceAt(ctx, a, nil)
		if err != nil {
			return nil, err
		}
		used[i] = nonce > 0 || balance.Sign() > 0
	}
	return used, nil
}
