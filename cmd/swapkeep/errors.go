package main

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// amountsIn are the errors whose data are amounts: of the input token, otherwise of the
// native coin.
var amountsIn = map[string]struct{ token bool }{
	"insufficient_funds": {token: true}, "insufficient_gas": {}, "gas_ceiling": {},
}

// amountFigures are the data keys of such amounts.
var amountFigures = []string{"balance", "missing", "needed", "ceiling"}

// inCoins formats an error's amounts for people. With --json they stay in base units.
func (t *terminal) inCoins(err error, pays, native amount.Coin) error {
	var wire *protocol.Error
	if t.json || !errors.As(err, &wire) {
		return err
	}
	in, ok := amountsIn[wire.Name]
	if !ok {
		return err
	}
	coin := native
	if in.token {
		coin = pays
	}
	told := *wire
	if wire.Name == "insufficient_funds" {
		return insufficientBalance(told, pays)
	}
	told.Data = maps.Clone(wire.Data)
	for _, name := range amountFigures {
		if n := protocol.Amount(told.Data[name]).Int(); n != nil {
			told.Data[name] = coin.Exact(n)
		}
	}
	return &told
}

// insufficientBalance says what the account has and what it needs, if the daemon told.
func insufficientBalance(e protocol.Error, pays amount.Coin) error {
	balance, missing := protocol.Amount(e.Data["balance"]).Int(), protocol.Amount(e.Data["missing"]).Int()
	if balance == nil || missing == nil {
		return &e
	}
	need := new(big.Int).Add(balance, missing)
	e.Message = fmt.Sprintf("insufficient balance: you have %s, need %s", pays.Exact(balance), amount.Decimal(need, pays.Decimals, pays.Decimals))
	if promised := protocol.Amount(e.Data["promised"]).Int(); promised != nil {
		e.Message += ", of which open orders need " + amount.Decimal(promised, pays.Decimals, pays.Decimals)
	}
	e.Data = nil
	return &e
}

// figures returns an error's name and data as text.
func figures(e *protocol.Error) string {
	said := []string{e.Name}
	for _, key := range slices.Sorted(maps.Keys(e.Data)) {
		said = append(said, screen.Printable(key+" "+e.Data[key]))
	}
	return strings.Join(said, ", ")
}

// commandOf replaces the method names in remedies of the error table by command lines.
var commandOf = strings.NewReplacer(
	"keys.accounts", "swapkeep keys accounts", "keys.create", "swapkeep keys create", "keys.import", "swapkeep keys import",
	"keys.unlock", "swapkeep keys unlock", "networks.list", "swapkeep networks", "networks.select", "swapkeep networks select",
	"tokens.import", "swapkeep tokens import", "tokens.remove", "swapkeep tokens remove", "swap.orders", "swapkeep orders",
	"swap.cancel", "swapkeep orders cancel", "swap.accept", "swapkeep orders accept", "swap.speedup", "swapkeep orders speedup",
	"approvals.list", "swapkeep approvals", "approvals.revoke", "swapkeep approvals revoke",
	"settings.get", "swapkeep settings", "settings.set", "swapkeep settings set", "providers.set_key", "swapkeep providers set-key",
)

func inCommands(remedy string) string { return commandOf.Replace(remedy) }
