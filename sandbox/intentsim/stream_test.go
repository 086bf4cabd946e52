package intentsim_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/intentsim"
	"swapkeep/sandbox/sandboxtest"
)

// stream reads a streamed quote until it or the context ends.
func stream(t *testing.T, ctx context.Context, s *sandbox.Sandbox) ([][]byte, error) {
	t.Helper()
	body, err := json.Marshal(quoteRequest(s, 8453, native, 42161, native, sandboxtest.Units(1, 16), nil))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.IntentURL()+"/v1/quotes?mode=stream", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("the stream: status %d, type %s; want 200 and application/x-ndjson", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	var lines [][]byte
	for in := bufio.NewReader(resp.Body); ; {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			lines = append(lines, line)
		}
		if err != nil {
			return lines, err
		}
	}
}

func routes(t *testing.T, lines [][]byte) []string {
	t.Helper()
	var ids []string
	for _, line := range lines {
		var r routeReply
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		ids = append(ids, r.RouteID)
	}
	return ids
}

func TestStream(t *testing.T) {
	s := shared(t)
	set(t, s, func(c *intentsim.Settings) { c.DelayMS = map[string]int{"Hyperstream": 60, "DeBridge": 30} })
	lines, err := stream(t, t.Context(), s)
	if err != io.EOF || !slices.Equal(routes(t, lines), []string{"Across", "DeBridge", "Hyperstream"}) {
		t.Fatalf("the stream ends with %v after %q, want EOF and three routes", err, lines)
	}
	sandboxtest.SameShape(t, "line", sandboxtest.Decode[any](t, lines[0]), example(t, "k_stream_line.json"))
	var first, last routeReply
	if err := json.Unmarshal(lines[0], &first); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(lines[2], &last); err != nil {
		t.Fatal(err)
	}
	if first.QuoteID == "" || first.QuoteID != last.QuoteID {
		t.Errorf("quotes %q and %q", first.QuoteID, last.QuoteID)
	}
	plan := mustAsk[buildReply](t, s, http.MethodPost, "/v1/deposit/build", buildRequest(s, first.QuoteID, "Across", nil))
	if plan.Kind != "CONTRACT_CALL" || len(plan.Approvals) != 1 {
		t.Errorf("plan %+v", plan)
	}
	if bad := request(t, s, http.MethodPost, "/v1/quotes?mode=stream", fields{}); bad.StatusCode != 400 || !strings.HasPrefix(bad.Header.Get("Content-Type"), "application/json") {
		t.Errorf("a bad request: %d %s", bad.StatusCode, bad.Header.Get("Content-Type"))
	}
}

func TestStreamGoesWrong(t *testing.T) {
	s := shared(t)
	with := func(stream intentsim.Stream) { set(t, s, func(c *intentsim.Settings) { c.Stream = stream }) }

	t.Run("stalls", func(t *testing.T) {
		with(intentsim.Stream{StallAfter: 1})
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if lines, err := stream(t, ctx, s); len(lines) != 1 || ctx.Err() == nil {
			t.Errorf("%d lines, %v", len(lines), err)
		}
	})
	t.Run("is cut", func(t *testing.T) {
		with(intentsim.Stream{CutAfter: 1})
		lines, err := stream(t, t.Context(), s)
		if err != io.ErrUnexpectedEOF || len(lines) != 2 || json.Valid(lines[1]) {
			t.Errorf("lines are %q, %v; want two and an unexpected EOF", lines, err)
		}
	})
	t.Run("repeats itself", func(t *testing.T) {
		with(intentsim.Stream{Repeat: 9})
		if lines, err := stream(t, t.Context(), s); err != io.EOF || len(routes(t, lines)) != 30 {
			t.Errorf("%d lines, %v", len(lines), err)
		}
	})
	t.Run("has blank lines and no last end", func(t *testing.T) {
		with(intentsim.Stream{Blank: true})
		lines, err := stream(t, t.Context(), s)
		if err != io.EOF || len(lines) != 6 || string(lines[0]) != "\r\n" || lines[5][len(lines[5])-1] != '}' {
			t.Errorf("lines are %q, %v; want six and EOF", lines, err)
		}
	})
	t.Run("lies in its second line", func(t *testing.T) {
		s.Reset()
		for _, lie := range []inject.Rule{
			{Target: "/v1/quotes", Kind: inject.Lie, Pointer: "/1/quote/amountOut", Value: json.RawMessage(`"7"`)},
			{Target: "/v1/quotes", Kind: inject.Lie, Pointer: "/2", Value: json.RawMessage(`{"routeId":"x"}`)},
			{Target: "/v1/quotes", Kind: inject.Lie, Pointer: "/3/quote", Value: json.RawMessage(`7`)},
		} {
			if _, err := s.Intent().Faults.Add(lie); err != nil {
				t.Fatal(err)
			}
		}
		lines, err := stream(t, t.Context(), s)
		if err != io.EOF || len(lines) != 3 || !bytes.Contains(lines[1], []byte(`"amountOut":"7"`)) || string(lines[2]) != `{"routeId":"x"}`+"\n" {
			t.Errorf("lines are %q, %v; want three and EOF", lines, err)
		}
	})
}
