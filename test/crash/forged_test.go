//go:build faults && linux

package crash

import (
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/test/requests"
)

// thief is an account that these tests do not use otherwise.
var thief = common.HexToAddress("0x7100000000000000000000000000000000000071")

// journal runs do on the database of the stopped daemon.
func (d *desk) journal(do func(*journal.Journal) error) {
	d.t.Helper()
	db, err := bolt.Open(filepath.Join(d.Instance.Home, "orders.db"), 0o600, &bolt.Options{Timeout: 5 * time.Second})
	if err != nil {
		d.t.Fatal(err)
	}
	defer db.Close()
	j, err := journal.Open(db)
	if err == nil {
		err = do(j)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// forge forges an order from one that was executed, as a program of the user could: a new
// one that is consistent except for the seal.
func forge(done swap.Order, change func(*swap.Order)) (o swap.Order) {
	o = done.Clone()
	o.ID, o.Request = uuid.Must(uuid.NewV7()).String(), uuid.NewString()
	o.Offer.Expires = time.Now().Add(10 * time.Minute).UTC()
	o.State, o.Step, o.Results, o.Verdict, o.Revision, o.Created = swap.Accepted, 0, nil, nil, 0, time.Now().UTC()
	change(&o)
	o.Digest = swap.Digest(o.Terms, o.Plan.Effects())
	return o
}

// forgeries are such changes: one that could be executed as it is, and two that pay somebody
// else, one of them without a seal.
var forgeries = []func(*swap.Order){
	func(o *swap.Order) { o.Terms.GasCeiling = new(big.Int).Add(o.Terms.GasCeiling, big.NewInt(1)) },
	func(o *swap.Order) { o.Terms.Recipient, o.Offer.Request.Recipient = thief, thief },
	func(o *swap.Order) { o.Terms.Recipient, o.Terms.RefundTo, o.Seal = thief, thief, nil },
}

// TestForgedOrder checks that orders written into orders.db by another program of the same
// user, while the daemon is stopped, are not carried out: after a start and unlock the
// daemon signs and sends nothing for them, says so, and lets the user cancel them.
func TestForgedOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, takeLane(t))
	d.Env = append(d.Env, cheapWallets)
	d.open()
	p := begin(d, flowNamed("swap"), "")
	if err := p.drive(); err != nil {
		t.Fatal(err)
	}
	p.checkOutcome()
	p.listen()
	d.shut()
	p.checkAudit()
	var orders []swap.Order
	d.journal(func(j *journal.Journal) error {
		done, err := j.Get(p.id)
		if err != nil {
			return err
		}
		for _, change := range forgeries {
			o := forge(done, change)
			o, _, err = j.Create(o, o.Digest)
			if err != nil {
				return err
			}
			orders = append(orders, o)
		}
		return nil
	})
	d.open()
	d.unlock()
	for _, o := range orders {
		seen, err := d.awaitOrder(o.ID, func(o protocol.Order) bool { return o.Condition == "record_tampered" })
		if err != nil {
			t.Fatal(err)
		}
		if seen.Cause == nil || seen.Cause.Error != "record_changed" || seen.CurrentTx != "" || seen.Step != 0 || seen.Reason == "" {
			t.Errorf("%+v", seen)
		}
		d.must("swap.cancel", protocol.CancelParams{Request: requests.NewUUID(), Order: o.ID, Digest: seen.Digest, Password: []byte(requests.Password)}, nil)
		if seen, err = d.awaitOrder(o.ID, ended); err != nil || seen.State != "cancelled" {
			t.Errorf("%s, %v", seen.State, err)
		}
	}
	if s := p.observe(); len(s.distinct()) != 1 || s.pending != p.nonce+1 {
		t.Errorf("%d transactions were sent, nonce %d", len(s.distinct()), s.pending)
	}
	if n := sandboxtest.Balance(t, p.chain(), thief, usdc); n.Sign() != 0 {
		t.Errorf("paid to a thief: %s", n)
	}
	p.checkNextSwap(1)
	d.shut()
}
