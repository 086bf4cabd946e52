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
	"strconv"

	"swapkeep/keys"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

const (
	signRounds    = 60   // each signer in turn, once per round
	signsPerRound = 50   // by each signer
	peerWarmUp    = 2000 // signatures that a Node library makes before it is measured

	bareSecp256k1 = "secp256k1 signature alone"
)

// libraries are the Node libraries that the vault is compared with, at the versions in
// bench/node/package-lock.json.
var libraries = []struct{ name, version string }{{"viem", "2.57.0"}, {"ethers", "6.17.0"}}

// libraryNames returns the display names of libraries, such as "viem 2.57.0 in Node".
func libraryNames() (names []string) {
	for _, l := range libraries {
		names = append(names, l.name+" "+l.version+" in Node")
	}
	return names
}

// permitVector is typed data with the signature of a test key.
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

// grant returns the allowance that the message grants.
func (p permit) grant() swap.Approval {
	details := p.Message["details"].(map[string]any)
	amount, _ := new(big.Int).SetString(details["amount"].(string), 10)
	return swap.Approval{
		Token: common.HexToAddress(details["token"].(string)), Spender: common.HexToAddress(p.Message["spender"].(string)), Amount: amount,
	}
}

// measurePermit times hashing and signing of given typed data: by the vault as the daemon
// calls it, and by viem and ethers, each in a warmed-up Node. All must first produce the
// golden signature. The limit is signing a given hash with an unprotected key.
func measurePermit(ctx context.Context, l *lab) (_ sides, err error) {
	p, err := readPermit()
	if err != nil {
		return nil, err
	}
	vault, err := unlockedVault(ctx, filepath.Join(l.dir, "vault"))
	if err != nil {
		return nil, err
	}
	defer vault.Lock()
	if signature, err := vault.SignTypedData(ctx, p.Signer, p.typed()); err != nil || !bytes.Equal(signature, p.Signature) {
		return nil, fmt.Errorf("the vault's signature is not the golden one: %x, %w", signature, err)
	}
	signers := []func(times int) ([]float64, error){each(func() error { _, err := vault.SignTypedData(ctx, p.Signer, p.typed()); return err })}
	for _, library := range libraries {
		peer, err := l.openPeer(ctx, library.name, library.version, p)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, peer.close()) }()
		signers = append(signers, peer.sign)
	}
	bare, err := bareSignature(p.typed())
	if err != nil {
		return nil, err
	}
	signers = append(signers, each(bare))
	all := make(sides, len(signers))
	for turn := range 1 + l.sampleCount(signRounds) {
		for i, sign := range signers {
			took, err := sign(signsPerRound)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, err
			}
			if turn > 0 { // the first is warm-up
				all[i] = append(all[i], took...)
			}
		}
	}
	return all, nil
}

// each returns a function that times f repeatedly.
func each(f func() error) func(times int) ([]float64, error) {
	return func(times int) (all []float64, err error) {
		for range times {
			took, err := timed(nil, f)
			if err != nil {
				return nil, err
			}
			all = append(all, took)
		}
		return all, nil
	}
}

// bareSignature signs the hash of typed data, computed in advance, with any key: the
// minimum that every signature costs.
func bareSignature(typed apitypes.TypedData) (func() error, error) {
	digest, _, err := apitypes.TypedDataAndHash(typed)
	if err != nil {
		return nil, err
	}
	key, err := crypto.GenerateKey()
	return func() error { _, err := crypto.Sign(digest, key); return err }, err
}

// unlockedVault returns a vault with the published test accounts, in its own files.
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

// A peer is a running node/permit.mjs.
type peer struct {
	*child
	lines *bufio.Reader
}

func (l *lab) openPeer(ctx context.Context, library, version string, want permit) (*peer, error) {
	vector := filepath.Join(l.dir, "permit.json")
	if err := os.WriteFile(vector, permitVector, 0o600); err != nil {
		return nil, err
	}
	c, err := spawn(exec.CommandContext(ctx, "node", filepath.Join(l.node, "permit.mjs"), library, vector, strconv.Itoa(l.sampleCount(peerWarmUp))))
	if err != nil {
		return nil, err
	}
	p := &peer{c, bufio.NewReader(c.stdout)}
	var self struct {
		Version   string        `json:"version"`
		Signature hexutil.Bytes `json:"signature"`
	}
	if err = p.line(&self); err == nil && (self.Version != version || !bytes.Equal(self.Signature, want.Signature)) {
		err = fmt.Errorf("%s %s instead of %s, or not the golden signature: %s", library, self.Version, version, self.Signature)
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

// sign makes the peer sign that often and returns how long each took.
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
