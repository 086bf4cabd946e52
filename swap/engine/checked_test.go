package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// deafSender is a Sender that learns nothing about its transactions while deaf is set.
type deafSender struct {
	Sender
	deaf *atomic.Bool
}

func (s deafSender) Poll(ctx context.Context, key string) (chain.Tx, *chain.Evidence, error) {
	if s.deaf.Load() {
		return chain.Tx{}, nil, errors.New("no node answers")
	}
	return s.Sender.Poll(ctx, key)
}

// TestOrderChecked checks that an order shows when it was last polled successfully, even
// if nothing changed, but not before the first poll or after its end.
func TestOrderChecked(t *testing.T) {
	b := newEngineFixture(t)
	var deaf atomic.Bool
	b.halt()
	b.wrapSender = func(s Sender) Sender { return deafSender{s, &deaf} }
	b.start()
	told := make(chan swap.Order, 100)
	defer b.service.Subscribe(func(o swap.Order) { told <- o })()
	b.chain.Pause()
	defer b.chain.Resume()
	began := time.Now()
	id := b.order(nil).ID
	first := b.waitUntil(id, "sent and looked at", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} && o.Checked.After(o.Updated) })
	if first.Checked.Before(began) || first.Checked.After(time.Now()) {
		t.Errorf("checked %s, between %s and now", first.Checked, began)
	}
	if news := <-told; news.Checked.IsZero() {
		t.Error("a change is told without the time of its look")
	}
	again := b.waitUntil(id, "looked at again", func(o swap.Order) bool { return o.Checked.After(first.Checked) })
	if listed, _, err := b.service.Orders(b.from, true, "", 1); err != nil || len(listed) != 1 || listed[0].Checked.Before(again.Checked) {
		t.Errorf("listed as %+v, %v", listed, err)
	}

	deaf.Store(true)
	time.Sleep(100 * time.Millisecond) // let a poll in progress end
	last, _, _ := b.service.Order(id)
	time.Sleep(100 * time.Millisecond)
	if now, _, _ := b.service.Order(id); !now.Checked.Equal(last.Checked) {
		t.Errorf("checked %s by a look that learned nothing", now.Checked.Sub(last.Checked))
	}
	b.halt()
	b.start()
	if fresh, _, err := b.service.Order(id); err != nil || !fresh.Checked.IsZero() {
		t.Errorf("after a start checked %s, %v", fresh.Checked, err)
	}

	deaf.Store(false)
	b.chain.Resume()
	if ended := b.waitState(id, swap.Filled); !ended.Checked.IsZero() {
		t.Errorf("it ended and tells %s", ended.Checked)
	}
}
