//go:build faults && linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
	"swapkeep/test/await"
	"swapkeep/test/processes"
	"swapkeep/test/programs"
	"swapkeep/test/requests"
)

const (
	callTimeout = 30 * time.Second // limit for a call
	waitTimeout = 40 * time.Second // limit for anything that must happen in the end
)

// A victim has a wallet and a daemon of his own, and has unlocked it in the browser.
type victim struct {
	*programs.Home
	w             *world
	relay         *client.Process
	account       common.Address
	initialWealth float64 // initial wealth, US dollars
}

// newVictim creates one with all holdings, whose daemon knows the prices.
func (w *world) newVictim() (v *victim, err error) {
	w.victims++
	dir := filepath.Join(w.root, fmt.Sprint("v", w.victims))
	v = &victim{w: w, Home: programs.NewHome(dir, filepath.Join(w.files(), "config.toml"))}
	if err := errors.Join(os.Mkdir(dir, 0o700), v.Install(w.bin)); err != nil {
		return nil, err
	}
	v.Env = append(v.Env, "SWAPKEEP_KEYS_BACKEND=file", "SWAPKEEP_CHEAP_KDF=1", "SWAPKEEP_CLOCK_PACE="+w.pace())
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w\n%s", err, v.Log()), v.close())
		}
	}()
	if v.relay, err = v.window(); err != nil {
		return nil, err
	}
	for _, step := range []func() error{v.makeWallet, v.fund, v.awaitPrices} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// window opens a connection as a browser does, by a relay of its own.
func (v *victim) window() (*client.Process, error) {
	return client.Start(v.Command(nil, programs.Origin))
}

// makeWallet ends with the only password that this victim types.
func (v *victim) makeWallet() error {
	if err := v.call("keys.create", protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(requests.Password)}, nil); err != nil {
		return err
	}
	if err := v.call("keys.lock", nil, nil); err != nil {
		return err
	}
	if err := v.call("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil); err != nil {
		return err
	}
	var all protocol.AccountsResult
	if err := v.call("keys.accounts", nil, &all); err != nil {
		return err
	}
	v.account = common.HexToAddress(string(all.Accounts[0].Address))
	return nil
}

func (v *victim) fund() (err error) {
	for _, h := range holdings {
		address, t := v.w.token(h)
		if err := v.w.Chain(h.chain).Fund(v.w.ctx, v.account, address, t.Units(h.dollars)); err != nil {
			return err
		}
	}
	v.initialWealth, err = v.w.wealth(v.account)
	return err
}

// awaitPrices waits until the daemon has current prices of all holdings: without them it
// would refuse what it otherwise allows.
func (v *victim) awaitPrices() error {
	for _, h := range holdings {
		address, _ := v.w.token(h)
		var list protocol.PricesResult
		var err error
		if !await.Holds(waitTimeout, func() bool {
			list = protocol.PricesResult{}
			err = v.call("prices.list", protocol.PricesParams{ChainID: h.chain, Tokens: []protocol.Address{protocol.Address(address.Hex())}}, &list)
			return err == nil && len(list.Prices) == 1 && list.Prices[0].Now != "" && !list.Prices[0].Stale
		}) {
			return fmt.Errorf("no price of %q on chain %d: %+v, %w", h.symbol, h.chain, list.Prices, err)
		}
	}
	return nil
}

func (v *victim) call(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(v.w.ctx, callTimeout)
	defer cancel()
	return v.relay.Call(ctx, method, params, result)
}

// script returns what the thief has of the victim: the session, and never the password.
func (v *victim) script() *popup {
	return &popup{w: v.w, relay: v.relay, more: v.window, account: v.account, tally: map[string]int{}}
}

// loss returns the lost wealth, in US dollars.
func (v *victim) loss() (float64, error) {
	now, err := v.w.wealth(v.account)
	return v.initialWealth - now, err
}

// close closes the window and ends the daemon.
func (v *victim) close() error {
	var err error
	if v.relay != nil {
		_, err = v.relay.Stop()
	}
	_ = v.Command(nil, "stop").Run() // there may be none
	left, lookErr := processes.StillRunning(v.Bin, waitTimeout)
	for _, pid := range left {
		err = errors.Join(err, fmt.Errorf("process %d did not end: killed", pid), processes.Kill(pid))
	}
	return errors.Join(err, lookErr)
}
