package swap

import (
	"encoding/json"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// An Order is one accepted plan and everything that has happened to it. Every change
// stores a snapshot of it in the journal, flat: the stored names are those of the parts'
// fields, in this order.
type Order struct {
	ID string `json:"id"`
	Consent
	Progress
	Outcome
	Created    time.Time `json:"created"`
	Updated    time.Time `json:"updated"`
	EndedAt    time.Time `json:"endedAt,omitzero"` // when it came to the end it has; zero: it has not ended, or an older version wrote it
	Unfinished bool      `json:"-"`                // of an [Unreadable] order: it had not ended
	Checked    time.Time `json:"-"`                // when the engine last polled it; zero: not since the engine started, or it has ended
	ChainEnded bool      `json:"-"`                // the chain that it spends on was shut down, as the engine knows
}

// A Consent is what the user accepted, with the offer and plan by which it is carried out:
// a refresh replaces those two under the same digest. The seal covers Terms, Offer, Plan,
// Digest and AckCodes, and besides them SlippageBps and Created.
type Consent struct {
	Request  string      `json:"request"` // the client's idempotency key, a uuid
	Digest   common.Hash `json:"digest"`  // what the user accepted
	Origin   string      `json:"origin"`  // who asked: extension origin or terminal
	Terms    Terms       `json:"terms"`
	Offer    Offer       `json:"offer"`
	Plan     Plan        `json:"plan"`
	AckCodes []string    `json:"acknowledged,omitempty"` // codes of findings that the user acknowledged
	Seal     *Seal       `json:"seal,omitempty"`         // over what was accepted; without one nothing is signed
}

// A Progress is how far an order has come, and what it waits for.
type Progress struct {
	Revision        uint64            `json:"revision"` // counts recorded changes
	State           State             `json:"state"`
	Condition       Condition         `json:"condition,omitempty"`
	Cancel          bool              `json:"cancel,omitempty"`           // the user asked to end it
	CancelSeal      *Seal             `json:"cancelSeal,omitempty"`       // over that request
	Step            int               `json:"step"`                       // index of the next step to carry out
	Results         []Result          `json:"results,omitempty"`          // one per finished step
	SlippageBps     int               `json:"slippageBps,omitempty"`      // the user's own, where a refresh asked for less
	Permit          *SignedPermit     `json:"permit,omitempty"`           // signed under this consent, even if its step began again
	Wrapped         bool              `json:"wrapped,omitempty"`          // the input was wrapped first ([Terms].Wrap), by a call of its own
	CurrentTx       common.Hash       `json:"currentTx,omitzero"`         // the current step's transaction, as last signed
	Attempts        []Attempt         `json:"attempts,omitempty"`         // everything signed for the current step's nonce, oldest first
	Bump            *Bump             `json:"bump,omitempty"`             // a requested speed-up that is not carried out yet
	Submission      *Submission       `json:"submission,omitempty"`       // of the signed order or deposit to its provider
	ProviderOrderID string            `json:"providerOrderId,omitempty"`  // the provider's id for the order
	FillTraces      []common.Hash     `json:"fillTraces,omitempty"`       // keys of what a fill of the signed order would leave on chain
	AllowanceLocked bool              `json:"allowanceLocked,omitempty"`  // it has its allowance locked: between approval and pull
	Proposal        *Proposal         `json:"proposal,omitempty"`         // with NeedsConsent: what [engine.Service.Accept] would consent to
	Claim           *Claim            `json:"claim,omitempty"`            // what the provider said last
	ClaimChanges    int               `json:"claimChanges,omitempty"`     // how often Claim changed
	Candidate       *CandidatePayment `json:"candidatePayment,omitempty"` // a payment that may prove its end; decides nothing
	// SearchFrom has, by chain, a settled block from before anything that spends was signed.
	// Searches for what a provider's order leaves on a chain start there.
	SearchFrom map[uint64]uint64 `json:"searchFrom,omitempty"`
	// Heads has, if the output arrives on another chain, that chain's latest block known
	// at HeadsAt, right before the input was handed over.
	Heads   map[uint64]uint64 `json:"heads,omitempty"`
	HeadsAt time.Time         `json:"headsAt,omitzero"`
	// Searched has, by name of the search, the block up to which all blocks were searched
	// twice. It is updated from time to time.
	Searched map[string]uint64 `json:"searched,omitempty"`
	// Isolation is what became of what was moved to the isolated account; nil until it was
	// looked at.
	Isolation *Isolation `json:"isolation,omitempty"`
	// ReceiptsAwaited is since when its end waits for receipts that no host serves.
	ReceiptsAwaited time.Time `json:"receiptsAwaited,omitzero"`
}

// An Outcome is how an order ended and, until then, why it waits or was refused.
type Outcome struct {
	Verdict *Verdict `json:"verdict,omitempty"` // set with a final state
	Closing *Closing `json:"closing,omitempty"` // set with [Closed], and kept by a later proof
	Reason  string   `json:"reason,omitempty"`  // in words, for a person
	Cause   *Cause   `json:"cause,omitempty"`   // likewise, for programs; nil if an older version wrote it
}

// A Proposal is what an order asks consent to when the accepted terms can no longer be
// kept: a review like the first one, with the reason. The user consents to its digest.
type Proposal struct {
	Review
	Reason string    `json:"reason"`
	Cause  *Cause    `json:"cause,omitempty"` // nil if an older version wrote it
	Made   time.Time `json:"made"`
	Seal   *Seal     `json:"seal,omitempty"` // without one it cannot be accepted
}

// A Result is the outcome of a finished step. A skipped step was an approval that was no
// longer needed.
type Result struct {
	Skipped   bool            `json:"skipped,omitempty"`
	Tx        common.Hash     `json:"tx,omitzero"`
	Signature hexutil.Bytes   `json:"signature,omitempty"`
	Evidence  *chain.Evidence `json:"evidence,omitempty"`
}

// A SignedPermit is what an order keeps of a permit that was signed for it: under the
// same consent only a permit with the same nonce may be signed again.
type SignedPermit struct {
	Nonce *big.Int `json:"nonce,omitempty"`
}

// A Verdict is the proven end of an order, with its proof.
type Verdict struct {
	State        State           `json:"state"`
	ProvenBy     string          `json:"provenBy,omitempty"`     // name of a row of [Proofs]
	Received     *Spend          `json:"received,omitempty"`     // what arrived, if a log or a balance shows it
	BelowMinimum bool            `json:"belowMinimum,omitempty"` // less than the minimum received
	Spent        *Spend          `json:"spent,omitempty"`        // what left, if that may differ from what was signed
	Sources      SourceCode      `json:"sources"`                // how many RPC hosts agree, or without a receipt what the wallet itself knows
	Receipt      ReceiptCode     `json:"receipt,omitempty"`      // what the receipts of Evidence and Deposit were held against
	Evidence     *chain.Evidence `json:"evidence,omitempty"`     // of the transaction that ended it
	Deposit      *chain.Evidence `json:"deposit,omitempty"`      // of our transaction that the payment answers
	Logs         []LogRef        `json:"logs,omitempty"`         // those of Evidence that count, for this order only
	Absence      *Absence        `json:"absence,omitempty"`      // if nothing was found
}

// A LogRef names a log of a transaction, or its payment of the native coin.
type LogRef struct {
	Chain uint64      `json:"chainId"`
	Tx    common.Hash `json:"tx"`
	Index int         `json:"logIndex"` // index among the transaction's logs; -1 = the native coin
	// BalanceIncrease means that a payment of the native coin shows only as an increase of
	// Account's balance in Block. No other payment to Account in that block counts then.
	BalanceIncrease bool           `json:"balanceIncrease,omitempty"`
	Block           uint64         `json:"block,omitempty"` // with Account: of the native coin, also where a log shows it
	Account         common.Address `json:"account,omitzero"`
}

// An Absence is a range of blocks that was searched without finding anything.
type Absence struct {
	Chain   uint64      `json:"chainId"`
	From    uint64      `json:"from"`
	Through chain.Block `json:"through"`
	Hosts   []string    `json:"hosts"` // that searched it
}

// Clone returns a deep copy of o's stored fields.
func (o Order) Clone() Order {
	var c Order
	if err := json.Unmarshal(MustJSON(o), &c); err != nil {
		panic(err) // our own types always decode
	}
	return c
}

// MustJSON encodes one of our own types.
func MustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types always encode
	}
	return b
}

// ClockSlack is how far the clocks of two chains may differ. Block producers keep to the
// second, up to one slot of the slowest chain.
const ClockSlack = 15 * time.Second

// Priced reports whether the order's plan depends on a quote.
func (o Order) Priced() bool { return Priced(o.Plan.LastEffect().Kind) }

// OrderSigned reports whether an order for others to settle was signed, submitted or not.
// Until its end is proven no other is signed in its place.
func (o Order) OrderSigned() bool {
	last := len(o.Plan.Steps) - 1
	return last >= 0 && o.Plan.Steps[last].Effect.Kind == Signed && len(o.Results) > last
}

// OwnSteps returns how many leading steps of the plan the wallet makes itself: transfers to
// an isolated account, approvals and the wrap that goes first.
func (o Order) OwnSteps() int {
	n := slices.IndexFunc(o.Plan.Steps, func(s Step) bool { return !o.Terms.IsWalletStep(s.Effect) })
	if n < 0 {
		return len(o.Plan.Steps)
	}
	return n
}

// Funded reports whether something was moved to the isolated account.
func (o Order) Funded() bool {
	return len(o.Results) > 0 && o.Results[0].Evidence != nil && o.Plan.Steps[0].Effect.Kind == Fund
}

// GasLeft returns what the fees of finished steps left of the accepted gas ceiling, in wei.
func (o Order) GasLeft() *big.Int {
	left := new(big.Int).Set(o.Terms.GasCeiling)
	for _, r := range o.Results {
		if r.Evidence != nil && r.Evidence.FeePaid != nil && r.Evidence.FeePaid.Sign() > 0 {
			left.Sub(left, r.Evidence.FeePaid)
		}
	}
	return left
}

// Priced reports whether an effect depends on a quoted price.
func Priced(k EffectKind) bool { return k != Fund && k != Approve && k != Wrap && k != Unwrap }

// CancelTime is how long a cancelling transaction may be broadcast.
const CancelTime = 24 * time.Hour

// A Seal shows that something is unchanged since its user, or the engine under the same
// consent, wrote it.
type Seal struct {
	Version int         `json:"version"` // version of the sealed format
	UserAct             // that it goes back to
	MAC     common.Hash `json:"mac"`
}

// Tampered reports whether o waits because its record is not what was accepted: only
// what its user asks for to end it is signed.
func (o Order) Tampered() bool { return o.Condition == RecordTampered }

// A Bump is a requested speed-up that is not carried out yet. It outbids one attempt:
// once another was signed, it is done. So a crash between the request, the bump and its
// record neither loses nor doubles it.
type Bump struct {
	Tier     chain.Tier  `json:"tier"`
	Replaces common.Hash `json:"replaces"`       // the attempt to outbid
	Seal     *Seal       `json:"seal,omitempty"` // nil where the engine itself asks, to end an order
}

// An Attempt is one transaction signed for the current step's nonce.
type Attempt struct {
	Kind   chain.AttemptKind `json:"kind"`
	Tx     common.Hash       `json:"tx"`
	FeeCap *big.Int          `json:"feeCap"` // wei per gas
	TipCap *big.Int          `json:"tipCap"` // wei per gas
	Signed time.Time         `json:"signed"`
}

// A Submission records the handing of an order to its provider. It is journaled before
// every try, so that after a crash the provider is asked whether it has the order before
// it is handed over again.
type Submission struct {
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Tries    int       `json:"tries"`
	Accepted bool      `json:"accepted,omitempty"` // the provider has it
	Refused  bool      `json:"refused,omitempty"`  // of a signed order: certainly not accepted, and not handed over again
}

// Closed reports whether the outcome of the submission is known.
func (s *Submission) Closed() bool { return s != nil && (s.Accepted || s.Refused) }
