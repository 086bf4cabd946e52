package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common/hexutil"
	bolt "go.etcd.io/bbolt"
)

// Values that must stay in the daemon.
var (
	plantedRaw       = json.RawMessage(`{"planted":"the provider's raw words"}`)
	plantedSignature = hexutil.Bytes(bytes.Repeat([]byte{0x5e, 0xc2}, 32))
)

// TestTimesBeyondTheCalendar checks that a record with a time that JSON cannot encode
// does not make the message fail.
func TestTimesBeyondTheCalendar(t *testing.T) {
	for _, stored := range []string{"9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+23:59"} {
		var at time.Time
		if err := json.Unmarshal([]byte(`"`+stored+`"`), &at); err != nil {
			t.Fatal(err)
		}
		o := swap.Order{Created: at, Updated: testTime, Consent: swap.Consent{Terms: swap.Terms{Deadline: at}, Offer: swap.Offer{Expires: at}}, Progress: swap.Progress{Attempts: []swap.Attempt{{Signed: at}}}}
		o.Plan.Steps = []swap.Step{{Effect: swap.Effect{Deadline: at}}}
		got := orderOf(o)
		if _, err := json.Marshal(got); err != nil || !got.Created.IsZero() || !got.Updated.Equal(testTime) {
			t.Errorf("%s: created %s, %v", stored, got.Created, err)
		}
	}
}

// newOrders returns a journal and a function that stores an open order's record in its
// database.
func newOrders(t testing.TB) (j *journal.Journal, put func(id string, record []byte)) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if j, err = journal.Open(db); err != nil {
		t.Fatal(err)
	}
	return j, func(id string, record []byte) {
		err := db.Update(func(tx *bolt.Tx) error {
			return errors.Join(tx.Bucket([]byte("order")).Put([]byte(id), record), tx.Bucket([]byte("open")).Put([]byte(id), []byte{1}))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatusCountsOpenOrders checks that the status counts all open orders, not only one
// page.
func TestStatusCountsOpenOrders(t *testing.T) {
	j, put := newOrders(t)
	const damaged = protocol.PageMax + 50
	for i := range damaged {
		put(fmt.Sprintf("order-%03d", i), []byte("{"))
	}
	orders, err := engine.NewService(engine.Options{Journal: j, Fees: swap.DefaultFees()})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(c *Config) { c.Swaps = orders })
	var s protocol.StatusResult
	if err := json.Unmarshal(r.attach("terminal").must("host.status", nil).Result, &s); err != nil {
		t.Fatal(err)
	}
	more := fmt.Sprintf("%d more orders", damaged-maxNamedOrders)
	if n := len(s.Problems); s.OpenOrders != damaged || n != maxNamedOrders+1 || !strings.Contains(s.Problems[n-1].Message, more) {
		t.Errorf("%d open orders of %d, %+v", s.OpenOrders, damaged, s.Problems)
	}
}

// FuzzOrder checks that any order in a damaged journal can be shown, decodes to the same
// value, and contains nothing that must stay in the daemon.
func FuzzOrder(f *testing.F) {
	fake := &fakeSwaps{}
	for _, o := range []swap.Order{
		fake.order("a", swap.Filled), fake.inNeed("b"), fake.leaving("c"), {},
		{Progress: swap.Progress{State: swap.Settling, Condition: swap.PaymentSeen, Candidate: &swap.CandidatePayment{}, Claim: &swap.Claim{}, Submission: &swap.Submission{}, Bump: &swap.Bump{}, Proposal: &swap.Proposal{}}, Outcome: swap.Outcome{Verdict: &swap.Verdict{Absence: &swap.Absence{}, Logs: []swap.LogRef{{}}}}},
	} {
		b, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"created":"9999-12-31T23:59:59-23:59","updated":"0000-01-01T00:00:00+23:59","results":[{},{}],"plan":{"steps":[{"effect":{"deadline":"9999-12-31T23:00:00-05:00"}}]}}`))
	j, put := newOrders(f)
	f.Fuzz(func(t *testing.T, stored []byte) {
		var secret swap.Order
		if json.Unmarshal(stored, &secret) == nil {
			secret.ID, secret.Offer.Raw = anID, plantedRaw
			for i := range secret.Results {
				secret.Results[i].Signature = plantedSignature
			}
			if planted, err := json.Marshal(secret); err == nil {
				stored = planted
			}
		}
		put(anID, stored)
		o, err := j.GetForDisplay(anID)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(orderOf(o))
		if err != nil {
			t.Fatalf("%s cannot be shown: %v", stored, err)
		}
		for _, own := range []string{"raw words", plantedSignature.String()[2:]} {
			if strings.Contains(string(b), own) {
				t.Fatalf("%s tells %s", b, own)
			}
		}
		var shown protocol.Order
		if err := json.Unmarshal(b, &shown); err != nil {
			t.Fatalf("%s is no order: %v", b, err)
		}
		if again, err := json.Marshal(shown); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("%s reads back as %s: %v", b, again, err)
		}
	})
}
