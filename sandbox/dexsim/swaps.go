package dexsim

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/google/uuid"
)

// maxHashes limits the hashes in a request to GET /swaps.
const maxHashes = 50

func checkSwaps(_ []byte, r *http.Request) error {
	q := r.URL.Query()
	hashes := strings.Split(q.Get("txHashes"), ",")
	if q.Get("txHashes") == "" {
		return invalid(`"value" must contain at least one of [txHashes, userOpHashes]`)
	}
	if len(hashes) > maxHashes {
		return invalid(`"txHashes" must contain less than or equal to 50 items`)
	}
	for _, h := range hashes {
		var hash common.Hash
		if hash.UnmarshalText([]byte(h)) != nil {
			return invalid(`"txHashes" fails to match the required pattern: /^(0x)?[0-9a-fA-F]{64}$/`)
		}
	}
	return checkChainID(q, "chainId", false)
}

func checkChainID(q url.Values, name string, required bool) error {
	if !q.Has(name) && !required {
		return nil
	}
	if _, err := strconv.ParseUint(q.Get(name), 10, 64); err != nil {
		return invalid(strconv.Quote(name) + " must be a number")
	}
	return nil
}

type swapsReply struct {
	RequestID string       `json:"requestId"`
	Swaps     []swapStatus `json:"swaps"`
}

type swapStatus struct {
	SwapType string `json:"swapType"`
	Status   string `json:"status"`
	TxHash   string `json:"txHash"`
}

// swaps answers GET /swaps: the status of transactions, on chain 1 by default.
func (s *Server) swaps(ctx context.Context, _ []byte, r *http.Request) (any, error) {
	q := r.URL.Query()
	id := uint64(1)
	if q.Has("chainId") {
		id, _ = strconv.ParseUint(q.Get("chainId"), 10, 64)
	}
	m, err := s.market(id)
	if err != nil {
		return nil, err
	}
	reply := &swapsReply{RequestID: uuid.NewString(), Swaps: []swapStatus{}}
	for _, h := range strings.Split(q.Get("txHashes"), ",") {
		status, err := m.swapStatus(ctx, common.HexToHash(h))
		if err != nil {
			return nil, err
		}
		status.TxHash = h
		reply.Swaps = append(reply.Swaps, status)
	}
	return reply, nil
}

func (m *market) swapStatus(ctx context.Context, hash common.Hash) (swapStatus, error) {
	tx, pending, err := m.Client.TransactionByHash(ctx, hash)
	if errors.Is(err, ethereum.NotFound) {
		return swapStatus{SwapType: "CLASSIC", Status: "NOT_FOUND"}, nil
	}
	if err != nil {
		return swapStatus{}, err
	}
	status := swapStatus{SwapType: m.swapType(tx), Status: "PENDING"}
	if pending {
		return status, nil
	}
	receipt, err := m.Receipt(ctx, hash)
	if errors.Is(err, ethereum.NotFound) { // its block is not the head yet
		return status, nil
	}
	if err != nil {
		return swapStatus{}, err
	}
	status.Status = map[bool]string{true: "SUCCESS", false: "FAILED"}[receipt.Status == types.ReceiptStatusSuccessful]
	return status, nil
}

func (m *market) swapType(tx *types.Transaction) string {
	switch {
	case tx.To() == nil || *tx.To() != m.Wrapped.Address:
		return "CLASSIC"
	case bytes.HasPrefix(tx.Data(), withdrawSelector):
		return "UNWRAP"
	default:
		return "WRAP"
	}
}
