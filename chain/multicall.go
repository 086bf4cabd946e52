package chain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
)

// multicall3 is at this address on every chain that has it.
var multicall3 = common.HexToAddress("0xcA11bde05977b3631167028862bE2a173976CA11")

// maxBatchCalls is how many questions one Multicall3 call carries at most.
const maxBatchCalls = 200

// errNoMulticall means the chain has no Multicall3.
var errNoMulticall = errors.New("no multicall contract")

var aggregate3 = sync.OnceValue(func() abi.ABI {
	parsed, err := abi.JSON(strings.NewReader(`[{"name":"aggregate3","type":"function","stateMutability":"payable",
		"inputs":[{"name":"calls","type":"tuple[]","components":[{"name":"target","type":"address"},{"name":"allowFailure","type":"bool"},{"name":"callData","type":"bytes"}]}],
		"outputs":[{"name":"returnData","type":"tuple[]","components":[{"name":"success","type":"bool"},{"name":"returnData","type":"bytes"}]}]}]`))
	if err != nil {
		panic(err) // the text above is constant
	}
	return parsed
})

// A multicall is one call of aggregate3, a multicallResult its outcome.
type (
	multicall struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	multicallResult struct {
		Success    bool
		ReturnData []byte
	}
)

// The gas limit of a call is multicallBaseGas, and multicallGasPerCall per question: many times what
// honest contracts take, and little enough for a node to answer in time. Together it
// stays below the limit of a transaction (EIP-7825), which some nodes apply to calls too.
const (
	multicallBaseGas    = 1_000_000
	multicallGasPerCall = 75_000
)

// ask returns the answers to all questions, nil for one that reverted. Where the chain
// has Multicall3, up to maxBatchCalls go into one call and read the same block; elsewhere
// each is asked alone. A question that makes the common call fail, by using up its gas,
// is found by bisection, so that it costs the others little.
func ask(ctx context.Context, r reader, all []Question) ([][]byte, error) {
	return askWithin(ctx, r, 0, all)
}

// askWithin is ask with another gas limit per call; 0 = by the number of questions.
func askWithin(ctx context.Context, r reader, gas uint64, all []Question) ([][]byte, error) {
	answers := make([][]byte, 0, len(all))
	for start := 0; start < len(all); start += maxBatchCalls {
		got, err := askSome(ctx, r, gas, all[start:min(start+maxBatchCalls, len(all))])
		if err != nil {
			return nil, err
		}
		answers = append(answers, got...)
	}
	return answers, nil
}

func askSome(ctx context.Context, r reader, gas uint64, some []Question) ([][]byte, error) {
	within := gas
	if within == 0 {
		within = multicallBaseGas + multicallGasPerCall*uint64(len(some))
	}
	got, err := askTogether(ctx, r, within, some)
	switch {
	case errors.Is(err, errNoMulticall), isRevert(err) && len(some) == 1:
		return askEach(ctx, r, within, some)
	case !isRevert(err):
		return got, err
	}
	half := len(some) / 2
	first, err := askSome(ctx, r, gas, some[:half])
	if err != nil {
		return nil, err
	}
	second, err := askSome(ctx, r, gas, some[half:])
	return append(first, second...), err
}

func askTogether(ctx context.Context, r reader, gas uint64, all []Question) ([][]byte, error) {
	calls := make([]multicall, len(all))
	for i, q := range all {
		calls[i] = multicall{q.To, true, q.Data}
	}
	data, err := aggregate3().Pack("aggregate3", calls)
	if err != nil {
		return nil, err
	}
	out, err := r.CallContract(ctx, ethereum.CallMsg{To: &multicall3, Gas: gas, Data: data}, nil)
	if err != nil {
		return nil, fmt.Errorf("multicall: %w", err)
	}
	if len(out) == 0 {
		return nil, errNoMulticall
	}
	return answersOf(out, len(all))
}

// answersOf decodes what aggregate3 returned for so many questions.
func answersOf(out []byte, questions int) ([][]byte, error) {
	var results []multicallResult
	if err := aggregate3().UnpackIntoInterface(&results, "aggregate3", out); err != nil {
		return nil, fmt.Errorf("multicall: %w", err)
	}
	if len(results) != questions {
		return nil, fmt.Errorf("multicall: %d answers to %d questions", len(results), questions)
	}
	answers := make([][]byte, questions)
	for i, res := range results {
		if res.Success {
			answers[i] = res.ReturnData
		}
	}
	return answers, nil
}

func askEach(ctx context.Context, r reader, gas uint64, all []Question) ([][]byte, error) {
	answers := make([][]byte, len(all))
	for i, q := range all {
		out, err := r.CallContract(ctx, ethereum.CallMsg{To: &q.To, Gas: gas, Data: q.Data}, nil)
		switch {
		case err == nil:
			answers[i] = out
		case !isRevert(err):
			return nil, err
		}
	}
	return answers, nil
}
