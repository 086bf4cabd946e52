package bridgesim

import (
	"math/big"
	"strings"

	"swapkeep/sandbox/network"
)

const (
	dollar  = 1_000_000 // microdollars
	allBips = 10_000
)

// amount is a CurrencyAmount of the API.
type amount struct {
	Currency  currency `json:"currency"`
	Amount    string   `json:"amount"`
	Formatted string   `json:"amountFormatted"`
	USD       string   `json:"amountUsd"`
	Minimum   string   `json:"minimumAmount"`
}

// amount returns base units of a currency as the API shows them, with least as the
// guaranteed minimum.
func (m *market) amount(t network.Token, units, minimum *big.Int) *amount {
	return &amount{m.currency(t), units.String(), formatted(units, t.Decimals), usd(value(t, units)), minimum.String()}
}

// value returns the worth of base units of a currency, in microdollars.
func value(t network.Token, units *big.Int) *big.Int {
	v := new(big.Int).Mul(units, big.NewInt(t.MicroUSD))
	return v.Quo(v, power(t.Decimals))
}

// unitsFor returns the base units that microdollars buy, rounded up.
func unitsFor(t network.Token, micro int64) *big.Int {
	v := new(big.Int).Mul(big.NewInt(micro), power(t.Decimals))
	v.Add(v, big.NewInt(t.MicroUSD-1))
	return v.Quo(v, big.NewInt(t.MicroUSD))
}

// convert converts an amount from one currency to another at their prices, rounded down.
func convert(units *big.Int, from, to network.Token) *big.Int {
	v := new(big.Int).Mul(units, big.NewInt(from.MicroUSD))
	v.Mul(v, power(to.Decimals))
	return v.Quo(v, new(big.Int).Mul(big.NewInt(to.MicroUSD), power(from.Decimals)))
}

// part returns units times of/whole, rounded down.
func part(units *big.Int, of, whole int64) *big.Int {
	v := new(big.Int).Mul(units, big.NewInt(of))
	return v.Quo(v, big.NewInt(whole))
}

func power(decimals uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
}

// fixed formats n as a decimal with the given number of places.
func fixed(n *big.Int, places uint8) string {
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
	}
	digits := new(big.Int).Abs(n).String()
	if missing := int(places) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	at := len(digits) - int(places)
	return sign + digits[:at] + "." + digits[at:]
}

// formatted formats base units in whole currency, with at least one decimal.
func formatted(units *big.Int, decimals uint8) string {
	whole, fraction, _ := strings.Cut(fixed(units, decimals), ".")
	if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
		fraction = "0"
	}
	return whole + "." + fraction
}

// usd formats microdollars in dollars.
func usd(micro *big.Int) string { return fixed(micro, 6) }

// percent returns a share of a whole in percent, with two decimals, rounded towards zero.
func percent(share, whole *big.Int) string {
	if whole.Sign() == 0 {
		return "0.00"
	}
	v := new(big.Int).Mul(share, big.NewInt(allBips))
	return fixed(v.Quo(v, whole), 2)
}
