package swap

import (
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// A CandidatePayment is a payment like the one that an order waits for, but not certainly its own
// ([PaymentSeen], [LikelyPaid]). It is shown to people and proves nothing.
type CandidatePayment struct {
	End    State          `json:"end"` // what it would prove: filled or refunded
	Chain  uint64         `json:"chainId"`
	Tx     common.Hash    `json:"tx"`
	Token  common.Address `json:"token"` // zero address = native coin
	Amount *big.Int       `json:"amount"`
	From   common.Address `json:"from"`          // who paid; for the coin sent by a contract, the sender of the transaction
	Time   time.Time      `json:"time,omitzero"` // of its block
	Log    LogRef         `json:"log"`           // that shows it; of two orders only one is [LikelyPaid] by it
}
