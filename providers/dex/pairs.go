package dex

import (
	"bytes"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// A pairFactory creates the V2 pools of one chain.
type pairFactory struct {
	address  common.Address
	initCode common.Hash // hash of a pair's init code
}

// pairs is the only V2 factory of chain 1 (Uniswap v2-core's deployment, with the hash in
// v2-periphery's library). V2 is not requested elsewhere.
var pairs = pairFactory{
	common.HexToAddress("0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f"),
	common.HexToHash("0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f"),
}

// of returns the address of the pool of two tokens, as the router computes it (CREATE2).
func (f pairFactory) of(a, b common.Address) common.Address {
	if bytes.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	return crypto.CreateAddress2(f.address, crypto.Keccak256Hash(a[:], b[:]), f.initCode[:])
}

// A prepayment is the output of a V3 swap that went to neither the router nor the
// recipient. The next command must be the V2 swap whose first pool received it.
type prepayment struct {
	token, to common.Address
}

// checkNoPrepayment refuses the end, or a command that is not a swap, while a prepayment is open.
func (m *machine) checkNoPrepayment() error {
	if m.prepayment == nil {
		return nil
	}
	return m.wrongRecipient(m.prepayment.token, m.prepayment.to)
}

// payFromPool takes a leg's input from the pool that already has it. The output must pass
// through the router: between the commands anybody can take the pool's surplus, and only a
// minimum on the final balance makes up for that.
func (m *machine) payFromPool(token common.Address, l leg) error {
	paid := *m.prepayment
	switch {
	case !l.byBalance || l.fromUser || token != paid.token || m.pair.pairs.of(token, l.path[1]) != paid.to:
		return m.checkNoPrepayment()
	case l.in.Sign() != 0 && l.in.Cmp(contractBalance) != 0: // nothing more, or all that the router has
		return refuse(swap.Undecodable, "amount", "more than the pool has already is paid in")
	case m.destinationOf(l.to) != toRouter:
		return refuse(swap.NotAsAccepted, "minOut", "what a pool that was paid before gives does not pass the router")
	}
	if l.in.Sign() != 0 {
		delete(m.held, token)
	}
	m.prepayment = nil
	return nil
}
