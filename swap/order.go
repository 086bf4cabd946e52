package swap

import (
	"encoding/json"
	"math/big"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// An Order is one accepted plan and everything that has happened to it. It is
// stored as a snapshot in the journal at every change.
type Order struct {
	ID       string      `json:"id"`
	Request  string      `json:"request"` // the client's idempotency key, a uuid
	Digest   common.Hash `json:"digest"`  // what the user accepted
	Origin   string      `json:"origin"`  // who asked: extension origin or terminal
	Terms    Terms       `json:"terms"`
	Offer    Offer       `json:"offer"`
	Plan     Plan        `json:"plan"`
	AckCodes []string    `json:"acknowledged,omitempty"` // verdicts the user took a second act for

	Revision    uint64        `json:"revision"` // counts recorded changes
	State       State         `json:"state"`
	Condition   Condition     `json:"condition,omitempty"`
	Cancel      bool          `json:"cancel,omitempty"`      // the user asked for it to end
	Step        int           `json:"step"`                  // next step to carry out
	Results     []Result      `json:"results,omitempty"`     // one per finished step
	SlippageBps int           `json:"slippageBps,omitempty"` // what the user asked for, where a refresh asked for less
	Permit      *SignedPermit `json:"permit,omitempty"`      // signed under this consent, whatever became of its result
	Sending     common.Hash   `json:"sending,omitzero"`      // the present step's transaction, as last signed
	Attempts    []Attempt     `json:"attempts,omitempty"`    // everything signed for the present step's nonce, oldest first
	Bump        *Bump         `json:"bump,omitempty"`        // a speed-up that was asked for and is not carried out yet
	Ref         string        `json:"ref,omitempty"`         // the provider's name for it
	Holds       bool          `json:"holds,omitempty"`       // it holds its allowance: between approval and pull
	Proposal    *Proposal     `json:"proposal,omitempty"`    // beside needs consent: what [Service.Accept] would consent to
	Claim       *Claim        `json:"claim,omitempty"`       // the provider's latest word
	Verdict     *Verdict      `json:"verdict,omitempty"`     // set with a final state
	Reason      string        `json:"reason,omitempty"`      // in words, for a person
	Created     time.Time     `json:"created"`
	Updated     time.Time     `json:"updated"`
}

// A Proposal is what an order asks consent to when the accepted terms can no
// longer be kept: a review like the first one, with the reason. Consent to it is
// its digest.
type Proposal struct {
	Review
	Reason string    `json:"reason"`
	Made   time.Time `json:"made"`
}

// A Result is what a finished step left behind. A skipped step was an approval
// that was not needed any more.
type Result struct {
	Skipped   bool            `json:"skipped,omitempty"`
	Tx        common.Hash     `json:"tx,omitzero"`
	Signature hexutil.Bytes   `json:"signature,omitempty"`
	Evidence  *chain.Evidence `json:"evidence,omitempty"`
}

// A SignedPermit is what an order remembers of a permit that was signed for it:
// only one for the same nonce may be signed again under the same consent.
type SignedPermit struct {
	Nonce *big.Int `json:"nonce,omitempty"`
}

// A Verdict is the proven end of an order and its proof.
type Verdict struct {
	State    State           `json:"state"`
	Received *Spend          `json:"received,omitempty"` // what arrived, where a log shows it
	Short    bool            `json:"short,omitempty"`    // less than the floor
	Sources  string          `json:"sources"`            // "one source", or "2 sources agree"
	Evidence *chain.Evidence `json:"evidence,omitempty"`
}

// Clone returns a copy that shares nothing with o.
func (o Order) Clone() Order {
	var c Order
	if err := json.Unmarshal(mustJSON(o), &c); err != nil {
		panic(err) // our own types always come back
	}
	return c
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types always marshal
	}
	return b
}
