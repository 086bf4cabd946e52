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
	Seal     *Seal       `json:"seal,omitempty"`         // on what was accepted; nil in one of an older version

	Revision    uint64        `json:"revision"` // counts recorded changes
	State       State         `json:"state"`
	Condition   Condition     `json:"condition,omitempty"`
	Cancel      bool          `json:"cancel,omitempty"`      // the user asked for it to end
	Ending      *Seal         `json:"ending,omitempty"`      // on that wish
	Step        int           `json:"step"`                  // next step to carry out
	Results     []Result      `json:"results,omitempty"`     // one per finished step
	SlippageBps int           `json:"slippageBps,omitempty"` // what the user asked for, where a refresh asked for less
	Permit      *SignedPermit `json:"permit,omitempty"`      // signed under this consent, whatever became of its result
	Wrapped     bool          `json:"wrapped,omitempty"`     // its input was wrapped, as [Terms] say, by a call of its own
	Sending     common.Hash   `json:"sending,omitzero"`      // the present step's transaction, as last signed
	Attempts    []Attempt     `json:"attempts,omitempty"`    // everything signed for the present step's nonce, oldest first
	Bump        *Bump         `json:"bump,omitempty"`        // a speed-up that was asked for and is not carried out yet
	Submission  *Submission   `json:"submission,omitempty"`  // that its provider was, or was about to be, told
	Ref         string        `json:"ref,omitempty"`         // the provider's name for it
	Leaves      []common.Hash `json:"leaves,omitempty"`      // by a fill of the signed order: names for what would show it
	Holds       bool          `json:"holds,omitempty"`       // it holds its allowance: between approval and pull
	Proposal    *Proposal     `json:"proposal,omitempty"`    // beside needs consent: what [Service.Accept] would consent to
	Claim       *Claim        `json:"claim,omitempty"`       // the provider's latest word
	Heard       int           `json:"heard,omitempty"`       // how often that was another one
	Seen        *Seen         `json:"seen,omitempty"`        // a payment that may be its end's; decides nothing
	// Since is, by chain, a settled block before anything that spends was signed:
	// what a provider's order leaves on a chain is searched for after it.
	Since map[uint64]uint64 `json:"since,omitempty"`
	// Heads is, of another chain that the output arrives on, the latest block that was
	// known at HeadsAt, right before the input was handed over.
	Heads   map[uint64]uint64 `json:"heads,omitempty"`
	HeadsAt time.Time         `json:"headsAt,omitzero"`
	// Searched is, by what is searched for, the block up to which that has been
	// done, now and then brought up to date.
	Searched   map[string]uint64 `json:"searched,omitempty"`
	Verdict    *Verdict          `json:"verdict,omitempty"` // set with a final state
	Reason     string            `json:"reason,omitempty"`  // in words, for a person
	Cause      *Cause            `json:"cause,omitempty"`   // likewise, for programs; nil in one of an older version
	Created    time.Time         `json:"created"`
	Updated    time.Time         `json:"updated"`
	Unfinished bool              `json:"-"` // of one that is [Unreadable]: it had not come to its end
	Checked    time.Time         `json:"-"` // when the engine last looked how it stands; zero: not since its start, or it has ended
}

// A Proposal is what an order asks consent to when the accepted terms can no
// longer be kept: a review like the first one, with the reason. Consent to it is
// its digest.
type Proposal struct {
	Review
	Reason string    `json:"reason"`
	Cause  *Cause    `json:"cause,omitempty"` // nil in one of an older version
	Made   time.Time `json:"made"`
	Seal   *Seal     `json:"seal,omitempty"` // nil in one of an older version
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
	By       string          `json:"by,omitempty"`       // row of the table of proofs
	Received *Spend          `json:"received,omitempty"` // what arrived, where a log or a balance shows it
	Short    bool            `json:"short,omitempty"`    // less than the floor
	Spent    *Spend          `json:"spent,omitempty"`    // what left, where that may be another amount than was signed
	Sources  string          `json:"sources"`            // "one source", or "2 sources agree"
	Evidence *chain.Evidence `json:"evidence,omitempty"` // of the transaction that ended it
	Deposit  *chain.Evidence `json:"deposit,omitempty"`  // of ours, that a payment answers
	Logs     []LogRef        `json:"logs,omitempty"`     // what of Evidence counts, for this order only
	Absence  *Absence        `json:"absence,omitempty"`  // where nothing was found
}

// A LogRef names a log of a transaction, or its payment of the native coin.
type LogRef struct {
	Chain uint64      `json:"chainId"`
	Tx    common.Hash `json:"tx"`
	Place int         `json:"place"` // among the transaction's logs; -1 = the native coin
	// Grown is set where a payment of the native coin is only seen in the balance
	// of Account, which Block raised: no other payment of that block counts then.
	Grown   bool           `json:"grown,omitempty"`
	Block   uint64         `json:"block,omitempty"`
	Account common.Address `json:"account,omitzero"`
}

// An Absence is a range of blocks that were searched without finding anything.
type Absence struct {
	Chain   uint64      `json:"chainId"`
	From    uint64      `json:"from"`
	Through chain.Block `json:"through"`
	Hosts   []string    `json:"hosts"` // that searched
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
