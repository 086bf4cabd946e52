package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"swapkeep/keys"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

const (
	viemVersion = "2.57.0"

	signTurns   = 60
	signsInTurn = 50
)

// permitVector is typed data with the signature that a test key gives it.
//
//go:embed testdata/permit.json
var permitVector []byte

type permit struct {
	Domain      apitypes.TypedDataDomain  `json:"domain"`
	Types       apitypes.Types            `json:"types"`
	PrimaryType string                    `json:"primaryType"`
	Message     apitypes.TypedDataMessage `json:"message"`
	Signer      common.Address            `json:"signer"`
	Signature   hexutil.Bytes             `json:"signature"`
}

func readPermit() (p permit, err error) {
	if err = json.Unmarshal(permitVector, &p); err != nil {
		return p, err
	}
	p.Types["EIP712Domain"] = []apitypes.Type{{Name: "name", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}}
	return p, nil
}

func (p permit) typed() apitypes.TypedData {
	return apitypes.TypedData{Types: p.Types, PrimaryType: p.PrimaryType, Domain: p.Domain, Message: p.Message}
}

// grant is the allowance that the message asks for.
func (p permit) grant() swap.Approval {
	details := p.Message["details"].(map[string]any)
	amount, _ := new(big.Int).SetString(details["amount"].(string), 10)
	return swap.Approval{
		Token: common.HexToAddress(details["token"].(string)), Spender: common.HexToAddress(p.Message["spender"].(string)), Amount: amount,
	}
}

// measurePermit times hash and signature of typed data that is ready made: by
// the vault as the daemon calls it, and by viem in a Node that has signed often
// before. Both must give the golden signature first.
func measurePermit(ctx context.Context, l *lab) (ours, reference []float64, err error) {
	p, err := readPermit()
	if err != nil {
		return nil, nil, err
	}
	vault, err := unlockedVault(ctx, filepath.Join(l.dir, "vault"))
	if err != nil {
		return nil, nil, err
	}
	defer vault.Lock()
	sign := func() ([]byte, error) { return vault.SignTypedData(ctx, p.Signer, p.typed()) }
	if signature, err := sign(); err != nil || !bytes.Equal(signature, p.Signature) {
		return nil, nil, fmt.Errorf("the vault's signature is not the golden one: %x, %w", signature, err)
	}
	peer, err := l.openPeer(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, peer.close()) }()
	for turn := range 1 + signTurns {
		var took []float64
		for range signsInTurn {
			began := time.Now()
			if _, err := sign(); err != nil {
				return nil, nil, err
			}
			took = append(took, float64(time.Since(began)))
		}
		theirs, err := peer.sign(signsInTurn)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
		if turn > 0 { // the first is warm-up
			ours, reference = append(ours, took...), append(reference, theirs...)
		}
	}
	return ours, reference, nil
}

// unlockedVault has the published test accounts, in files of its own.
func unlockedVault(ctx context.Context, dir string) (*keys.Vault, error) {
	files, err := keys.OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	store, err := keys.NewStore(files, "sandbox.bench", keys.Limits{})
	if err != nil {
		return nil, err
	}
	v, err := keys.New(store, keys.Options{Sandbox: true})
	if err != nil {
		return nil, err
	}
	if _, err := v.ImportMnemonic(ctx, "bench", []byte(testWords), []byte(testPassword)); err != nil {
		return nil, err
	}
	return v, v.Unlock(ctx, []byte(testPassword))
}

// A peer is node/permit.mjs at work.
type peer struct {
	*child
	lines *bufio.Reader
}

func (l *lab) openPeer(ctx context.Context, want permit) (*peer, error) {
	vector := filepath.Join(l.dir, "permit.json")
	if err := os.WriteFile(vector, permitVector, 0o600); err != nil {
		return nil, err
	}
	c, err := spawn(exec.CommandContext(ctx, "node", filepath.Join(l.node, "permit.mjs"), vector))
	if err != nil {
		return nil, err
	}
	p := &peer{c, bufio.NewReader(c.stdout)}
	var self struct {
		Viem      string        `json:"viem"`
		Signature hexutil.Bytes `json:"signature"`
	}
	if err = p.line(&self); err == nil && (self.Viem != viemVersion || !bytes.Equal(self.Signature, want.Signature)) {
		err = fmt.Errorf("viem %s instead of %s, or not the golden signature: %s", self.Viem, viemVersion, self.Signature)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the peer in Node (run make bench, which installs it): %w", err), p.close())
	}
	return p, nil
}

func (p *peer) line(v any) error {
	b, err := p.lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// sign lets the peer sign so often and returns how long each took.
func (p *peer) sign(times int) (took []float64, err error) {
	if _, err := fmt.Fprintln(p.stdin, times); err != nil {
		return nil, err
	}
	if err := p.line(&took); err != nil {
		return nil, err
	}
	if len(took) != times {
		return nil, fmt.Errorf("%d durations for %d signatures", len(took), times)
	}
	return took, nil
}
