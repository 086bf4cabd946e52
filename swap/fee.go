package swap

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// Partner receives the wallet's fee (spec section 2, fee configuration).
type Partner struct {
	Name     string         `json:"name"`
	Receiver common.Address `json:"receiverAddress"`
	Website  string         `json:"website"`
}

// FeeConfig is the whole fee configuration, in basis points. It cannot be changed over
// the wire.
type FeeConfig struct {
	FeeBps    int
	MinFeeBps int
	MaxFeeBps int
	Partner   Partner
}

// FeeInfo is what [FeeConfig.Info] returns: feeBps and partnerInfo, nothing else.
type FeeInfo struct {
	FeeBps      int     `json:"feeBps"`
	PartnerInfo Partner `json:"partnerInfo"`
}

// DefaultFees returns the spec's configuration, without a receiver.
func DefaultFees() FeeConfig { return FeeConfig{FeeBps: 40, MinFeeBps: 0, MaxFeeBps: 300} }

// Check fails if the configuration is outside its own bounds or the spec's.
func (c FeeConfig) Check() error {
	limits := DefaultFees()
	switch {
	case c.MinFeeBps < limits.MinFeeBps || c.MaxFeeBps > limits.MaxFeeBps || c.MinFeeBps > c.MaxFeeBps:
		return fmt.Errorf("fee bounds %d to %d bps: must lie within %d to %d", c.MinFeeBps, c.MaxFeeBps, limits.MinFeeBps, limits.MaxFeeBps)
	case c.FeeBps < c.MinFeeBps || c.FeeBps > c.MaxFeeBps:
		return fmt.Errorf("fee of %d bps: must lie within %d to %d", c.FeeBps, c.MinFeeBps, c.MaxFeeBps)
	}
	return nil
}

// Info returns the part that the spec's accessor exposes.
func (c FeeConfig) Info() FeeInfo { return FeeInfo{FeeBps: c.FeeBps, PartnerInfo: c.Partner} }

// A feeRule says how a provider takes the shared fee (spec section 8).
type feeRule struct {
	divide   int // the wallet gets feeBps divided by this
	makerBps int // most that the provider's side may take besides, shown separately
}

var feeRules = map[Kind]feeRule{
	DEX:     {divide: 2, makerBps: 20}, // 0.2 % wallet, 0.2 % maker
	Bridge:  {divide: 1},
	Intent:  {divide: 1},
	Gasless: {divide: 1},
}

// For returns the wallet's fee and its receiver for a provider, and the most that the
// provider's side may take besides, in basis points. Without a receiver the fee is 0, and
// without a fee the receiver is zero.
func (c FeeConfig) For(k Kind) (bps int, receiver common.Address, makerBps int) {
	r, ok := feeRules[k]
	if !ok {
		return 0, common.Address{}, 0
	}
	if bps = c.FeeBps / r.divide; bps == 0 || c.Partner.Receiver == (common.Address{}) {
		return 0, common.Address{}, r.makerBps
	}
	return bps, c.Partner.Receiver, r.makerBps
}

// Charge returns r with the configured fee for provider k. Wrapping and unwrapping the
// network's own wrapped coin is free.
func (c FeeConfig) Charge(r QuoteRequest, k Kind, wrapped common.Address) QuoteRequest {
	r.FeeBps, r.FeeReceiver, _ = c.For(k)
	if IsWrap(r, wrapped) {
		r.FeeBps, r.FeeReceiver = 0, common.Address{}
	}
	return r
}
