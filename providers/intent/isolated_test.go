package intent_test

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"math/big"
	"sync"
	"testing"
	"time"

	"swapkeep/swap"
	"swapkeep/test/await"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// An isolatedVault makes isolated accounts and signs for those that were taken.
type isolatedVault struct {
	mu    sync.Mutex
	keys  []*ecdsa.PrivateKey
	owner map[common.Address]common.Address // of those that were taken
}

var errNotTaken = errors.New("no isolated account that was taken")

func (v *isolatedVault) NextIsolated(_ context.Context, _ common.Address, from uint32) (uint32, common.Address, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := max(from, uint32(len(v.owner)))
	for uint32(len(v.keys)) <= n {
		key, err := crypto.GenerateKey()
		if err != nil {
			return 0, common.Address{}, err
		}
		v.keys = append(v.keys, key)
	}
	return n, crypto.PubkeyToAddress(v.keys[n].PublicKey), nil
}

func (v *isolatedVault) TakeIsolated(_ context.Context, owner common.Address, number uint32) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.owner == nil {
		v.owner = map[common.Address]common.Address{}
	}
	if int(number) != len(v.owner) || len(v.keys) <= int(number) {
		return errNotTaken
	}
	v.owner[crypto.PubkeyToAddress(v.keys[number].PublicKey)] = owner
	return nil
}

func (v *isolatedVault) OwnerOf(_ context.Context, isolated common.Address) (common.Address, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if owner, ok := v.owner[isolated]; ok {
		return owner, nil
	}
	return common.Address{}, errNotTaken
}

func (v *isolatedVault) keyOf(isolated common.Address) (*ecdsa.PrivateKey, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, key := range v.keys {
		if a := crypto.PubkeyToAddress(key.PublicKey); a == isolated && v.owner[a] != (common.Address{}) {
			return key, nil
		}
	}
	return nil, errNotTaken
}

// isolated checks that an order's call came from an isolated account exactly where no
// contract is built in, and that less than the price of a few transfers is left there.
func (c *walletFixture) isolated(t *testing.T, o swap.Order) {
	t.Helper()
	r := o.Terms
	if want := r.SrcChain == 10 || r.SrcChain == 143; r.IsIsolated() != want {
		t.Fatalf("from %d, isolated is %t", r.SrcChain, r.IsIsolated())
	}
	if !r.IsIsolated() {
		return
	}
	last := o.Plan.Steps[len(o.Plan.Steps)-1].Call
	if last.From != r.Isolated || r.Isolated == c.who || r.Recipient != c.who || r.RefundTo != c.who {
		t.Errorf("the call is from %s, terms %+v", last.From, r)
	}
	var moved *big.Int
	for _, s := range o.Plan.Steps {
		if s.Effect.Kind == swap.Fund && s.Effect.Spends[0].Token == native {
			moved = new(big.Int).Set(s.Effect.Spends[0].Amount)
		}
	}
	if r.TokenIn == native {
		moved.Sub(moved, r.AmountIn)
	}
	var left *big.Int
	if !await.Holds(time.Minute, func() bool {
		n, err := c.hub.Balance(t.Context(), r.SrcChain, r.Isolated, native)
		left = n
		return err == nil && n.Cmp(new(big.Int).Rsh(moved, 2)) < 0
	}) {
		t.Errorf("%s of the coin are left of %s for gas", left, moved)
	}
	if r.TokenIn != native {
		if n, err := c.hub.Balance(t.Context(), r.SrcChain, r.Isolated, r.TokenIn); err != nil || n.Sign() != 0 {
			t.Errorf("%v of the input are left there (%v)", n, err)
		}
	}
}
