package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/inject"
)

// Limits of a request to the sandbox's control endpoint.
const (
	controlTime = 10 * time.Second
	maxControl  = 4 << 20
)

// control makes a request to the control endpoint. body is marshalled to JSON; it may be
// nil or a [json.RawMessage].
func control[T any](ctx context.Context, s *demoRun, method, path string, body any) (reply T, err error) {
	ctx, cancel := context.WithTimeout(ctx, controlTime)
	defer cancel()
	content, err := json.Marshal(body)
	if err != nil {
		return reply, err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.box.ControlURL()+path, bytes.NewReader(content))
	if err != nil {
		return reply, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return reply, err
	}
	defer func() { _ = answer.Body.Close() }()
	content, err = io.ReadAll(io.LimitReader(answer.Body, maxControl))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, content)
	}
	if err == nil {
		err = json.Unmarshal(content, &reply)
	}
	if err != nil {
		return reply, fmt.Errorf("sandbox: %s %s: %w", method, path, err)
	}
	return reply, nil
}

// withSettings changes settings of a provider's simulator and returns a function that
// restores the former ones.
func (s *demoRun) withSettings(ctx context.Context, kind, settings string) (back func(context.Context) error, err error) {
	if settings == "" {
		return func(context.Context) error { return nil }, nil
	}
	before, err := control[json.RawMessage](ctx, s, http.MethodGet, "/"+kind, nil)
	if err != nil {
		return nil, err
	}
	if _, err := control[json.RawMessage](ctx, s, http.MethodPost, "/"+kind, json.RawMessage(settings)); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		_, err := control[json.RawMessage](ctx, s, http.MethodPost, "/"+kind, before)
		return err
	}, nil
}

// addFaults adds fault rules to a provider's simulator and returns a function that
// removes them.
func (s *demoRun) addFaults(ctx context.Context, kind string, rules ...inject.Rule) (end func(context.Context) error, err error) {
	end = func(ctx context.Context) error {
		_, err := control[json.RawMessage](ctx, s, http.MethodDelete, "/faults/"+kind, nil)
		return err
	}
	for _, rule := range rules {
		if _, err := control[json.RawMessage](ctx, s, http.MethodPost, "/faults/"+kind, rule); err != nil {
			return end, err
		}
	}
	return end, nil
}

// requestCount returns how many requests with that target the provider's simulator has received.
func (s *demoRun) requestCount(ctx context.Context, kind, target string) (int, error) {
	counts, err := control[struct {
		Requests map[string]int `json:"requests"`
	}](ctx, s, http.MethodGet, "/counts/"+kind, nil)
	return counts.Requests[target], err
}

// A providerOrder is an order as the provider's simulator records it, whatever its API reports.
// Fields that a kind of provider does not have are zero.
type providerOrder struct {
	name    string      // the provider's id
	deposit common.Hash // zero if there is none or it was not seen
	payment common.Hash // to the user: a fill or a refund
	status  string
}

// providerOrderParsers parse an order from the list of GET /KIND/orders. ok is false for an entry
// that is only a quote.
var providerOrderParsers = map[string]func(raw json.RawMessage) (d providerOrder, ok bool, err error){
	"dex": func(raw json.RawMessage) (providerOrder, bool, error) {
		o, err := read[struct {
			OrderID common.Hash  `json:"orderId"`
			Status  string       `json:"status"`
			TxHash  *common.Hash `json:"txHash"`
		}](raw)
		return providerOrder{o.OrderID.Hex(), common.Hash{}, orZero(o.TxHash), o.Status}, true, err
	},
	"bridge": func(raw json.RawMessage) (providerOrder, bool, error) {
		o, err := read[struct {
			RequestID common.Hash `json:"requestId"`
			Status    string      `json:"status"`
			Deposit   common.Hash `json:"deposit"`
			Payment   common.Hash `json:"payment"`
		}](raw)
		return providerOrder{o.RequestID.Hex(), o.Deposit, o.Payment, o.Status}, o.Deposit != (common.Hash{}), err
	},
	"intent": func(raw json.RawMessage) (providerOrder, bool, error) {
		o, err := read[struct {
			ID      string      `json:"id"`
			Status  string      `json:"status"`
			Deposit common.Hash `json:"deposit"`
			Payment common.Hash `json:"payment"`
		}](raw)
		return providerOrder{o.ID, o.Deposit, o.Payment, o.Status}, true, err
	},
	"gasless": func(raw json.RawMessage) (providerOrder, bool, error) {
		o, err := read[struct {
			QuoteID string       `json:"quoteId"`
			Status  string       `json:"status"`
			TxHash  *common.Hash `json:"txHash"`
		}](raw)
		return providerOrder{o.QuoteID, common.Hash{}, orZero(o.TxHash), o.Status}, true, err
	},
}

func orZero(h *common.Hash) common.Hash {
	if h == nil {
		return common.Hash{}
	}
	return *h
}

func read[T any](raw json.RawMessage) (v T, err error) {
	err = json.Unmarshal(raw, &v)
	return v, err
}

// providerOrders returns the orders that a provider's simulator accepted, from its own records.
func (s *demoRun) providerOrders(ctx context.Context, kind string) (all []providerOrder, err error) {
	list, err := control[[]json.RawMessage](ctx, s, http.MethodGet, "/"+kind+"/orders", nil)
	if err != nil {
		return nil, err
	}
	for _, raw := range list {
		d, ok, err := providerOrderParsers[kind](raw)
		if err != nil {
			return nil, fmt.Errorf("sandbox: an order of the %s provider: %w", kind, err)
		}
		if ok {
			all = append(all, d)
		}
	}
	return all, nil
}
