package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"swapkeep/sandbox/inject"
	"swapkeep/test/audit"
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

// providerOrders returns the orders that a provider's simulator accepted, from its own records.
func (s *demoRun) providerOrders(ctx context.Context, kind string) ([]audit.Entry, error) {
	return audit.ProviderOrders[kind](ctx, s.box)
}
