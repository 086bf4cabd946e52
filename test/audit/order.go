package audit

import (
	"encoding/json"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// What the daemon says, by the names of the wire (docs/protocol-reference.md) and by none of
// its code.

// An Amount is base units in decimal.
type Amount string

// Int returns the amount, nil if it is none.
func (a Amount) Int() *big.Int {
	n, ok := new(big.Int).SetString(string(a), 10)
	if !ok {
		return nil
	}
	return n
}

// amountOf returns n as an Amount.
func amountOf(n *big.Int) Amount { return Amount(n.String()) }

// A spend is an amount of a token; the zero address is the native coin.
type spend struct {
	Token  common.Address
	Amount Amount
}

// terms are what the user accepted.
type terms struct {
	Provider               string
	Account, Isolated      common.Address
	SrcChainID, DstChainID uint64
	TokenIn, TokenOut      common.Address
	AmountIn               Amount
	MinimumReceived        Amount `json:"minOut"`
	Refund                 *spend
	Wrap                   common.Address
}

// evidence names a transaction and its block.
type evidence struct {
	ChainID   uint64
	Tx        common.Hash
	Block     uint64
	BlockHash common.Hash
	Success   bool
	FeePaid   Amount
}

// An absence names the blocks that were searched in vain.
type absence struct {
	ChainID, From, Through uint64
	BlockHash              common.Hash
	Time                   time.Time
	Hosts                  []string
}

// A verdict is the end of an order with its proof.
type verdict struct {
	State, ProvenBy, Sources, Receipt string
	Received, Spent                   *spend
	BelowMinimum                      bool
	Evidence, Deposit                 *evidence
	Logs                              []json.RawMessage
	Absence                           *absence
}

// A step is one step of an order.
type step struct {
	Effect struct {
		Kind     string
		Deadline time.Time
	}
}

// A candidate is a payment that may be an order's.
type candidate struct {
	ChainID uint64 `json:"chainId"`
	Tx      common.Hash
	Token   common.Address
	Amount  Amount
}

// An Order is what the daemon says of one.
type Order struct {
	ID, Request      string
	Digest           common.Hash
	Terms            terms
	Offer            struct{ Routing string }
	Steps            []step
	State, Condition string
	Final, Ended     bool
	Reason           string
	Step             int
	Submission       json.RawMessage
	Wrapped          bool
	ProviderOrderID  string
	CandidatePayment *candidate `json:"candidatePayment"`
	Verdict          *verdict
}

// An OrderResult is an order with the newest lines of its history.
type OrderResult struct {
	Order   Order
	History []struct{ State string }
	Omitted int
}

// An Allowance is what the daemon lists of one; Kind is empty if it lists none.
type Allowance struct {
	Kind     string
	Amount   Amount
	Reserved Amount `json:"reserved"`
	Leftover string
}

// A Consent is what a user agreed to: the digests of the order and of its proposals.
type Consent struct {
	Request string
	Digests []common.Hash
	Order   string // its order's id; empty: the daemon refused, or never answered
	Refused bool
}

// As converts a message of the wire to one of the types above.
func As[T any](message any) (t T, err error) {
	b, err := json.Marshal(message)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	return t, err
}
