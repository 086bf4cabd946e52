package protocol

import (
	"time"
)

type OrderParams struct {
	Order string `json:"order" doc:"id"`
}

// OrderResult is an order and its history.
type OrderResult struct {
	Order   Order   `json:"order"`
	History []Entry `json:"history" doc:"oldest first"`
	Omitted int     `json:"omitted,omitempty" doc:"older lines left out"`
}

type OrdersParams struct {
	Account Address `json:"account,omitempty" doc:"default: all accounts"`
	Open    bool    `json:"open,omitempty" doc:"only orders that have not ended"`
	Cursor  string  `json:"cursor,omitempty" doc:"of the page before"`
	Limit   int     `json:"limit,omitempty" doc:"entries, 1 to 200; default 50"`
}

type OrdersResult struct {
	Orders []Order `json:"orders" doc:"newest first"`
	Cursor string  `json:"cursor,omitempty" doc:"for the next page; absent at the end"`
}

// An Order is an accepted plan and its progress.
type Order struct {
	ID               string            `json:"id"`
	Request          UUID              `json:"request"`
	Digest           Hash              `json:"digest"`
	Origin           string            `json:"origin" doc:"who asked for it"`
	Confirmed        *Confirmed        `json:"confirmed,omitempty" doc:"the user's act that the present consent goes back to; absent: no act of a user is sealed with it"`
	Terms            Terms             `json:"terms"`
	Offer            Offer             `json:"offer"`
	Steps            []Step            `json:"steps"`
	Acknowledge      []string          `json:"acknowledged,omitempty" of:"FindingCode"`
	Revision         uint64            `json:"revision" doc:"counts recorded changes: the higher is the newer"`
	Cancelling       bool              `json:"cancel,omitempty" doc:"the user asked for it to end"`
	State            string            `json:"state" of:"OrderState" doc:"accepted, approving, executing, submitting, settling, closed; filled, refunded, failed, expired, cancelled"`
	Final            bool              `json:"final" doc:"its end is proven, or its record says so: it stays as it is"`
	Ended            bool              `json:"ended" doc:"nobody waits for it any more: it is final, closed, or likely_paid; one that is not final may still become filled or refunded"`
	Condition        string            `json:"condition,omitempty" of:"Condition" doc:"in addition to the state: waiting_unlock …"`
	Reported         bool              `json:"reported,omitempty" doc:"the provider reported an end that is not proven yet: the chains are still watched, at growing intervals, and it may never be proven"`
	Step             int               `json:"step" doc:"next step to carry out"`
	CurrentTx        Hash              `json:"currentTx,omitempty" doc:"the current step's transaction, as last signed"`
	Attempts         []Attempt         `json:"attempts,omitempty" doc:"every transaction signed for the current step's nonce, oldest first; at most one is mined"`
	Speedup          string            `json:"speedup,omitempty" of:"Tier" doc:"tier of a requested speed-up that is not sent yet"`
	Proposal         *Proposal         `json:"proposal,omitempty" doc:"with needs_consent: what swap.accept would consent to instead"`
	Leftovers        []Leftover        `json:"leftovers,omitempty" doc:"allowances granted for it that are still there; see approvals.list"`
	Submission       *Submitted        `json:"submission,omitempty" doc:"its submission to the provider, begun or done"`
	Wrapped          bool              `json:"wrapped,omitempty" doc:"its input was wrapped, by a transaction of its own"`
	Isolation        *Isolation        `json:"isolation,omitempty" doc:"what came back from its throwaway account, and what stays there; absent: nothing yet. It may change after the order ended"`
	ProviderOrderID  string            `json:"providerOrderId,omitempty" doc:"the provider's id of the order"`
	Claim            *Claim            `json:"claim,omitempty" doc:"the provider's latest status; proves nothing"`
	CandidatePayment *CandidatePayment `json:"candidatePayment,omitempty" doc:"a payment that may be the awaited one or another's; proves nothing"`
	Verdict          *Verdict          `json:"verdict,omitempty" doc:"the proven end"`
	CanCloseFrom     time.Time         `json:"canCloseFrom,omitzero" doc:"from when swap.close takes it; absent: not at all"`
	Closing          *Closing          `json:"closing,omitempty" doc:"with the state closed, and kept when a proof follows"`
	Reason           string            `json:"reason,omitempty" doc:"in words"`
	Cause            *Cause            `json:"cause,omitempty" doc:"the reason for programs; absent of an order of an older version"`
	Created          time.Time         `json:"created"`
	Updated          time.Time         `json:"updated"`
	EndedAt          time.Time         `json:"endedAt,omitzero" doc:"when it came to the end that it has: equal to updated in the change that ended it; absent: it has not ended, or an older version wrote it"`
	Checked          time.Time         `json:"checked,omitzero" doc:"when the daemon last looked how it stands, on the chains and at its provider; absent: not since its start, or it has ended"`
}

// A Confirmed act of the user, as it is sealed with the order.
type Confirmed struct {
	Act    string    `json:"act" of:"ConfirmedAct"`
	Origin string    `json:"origin" doc:"who asked for it"`
	By     string    `json:"by" of:"ConfirmedBy" doc:"by what the user confirmed it"`
	Lines  Hash      `json:"lines" doc:"SHA-256 of the lines that were shown, as JSON"`
	At     time.Time `json:"at"`
}

// An Isolation is what became of what was moved to an order's throwaway account.
type Isolation struct {
	Returned []Returned `json:"returned,omitempty" doc:"transfers back to the account, oldest first"`
	Left     []Spend    `json:"left,omitempty" doc:"stays there: moving it costs more than it is worth, or more of the coin than there is"`
}

// A Returned amount was moved back from a throwaway account.
type Returned struct {
	Token  Address `json:"token"`
	Amount Amount  `json:"amount"`
	Tx     Hash    `json:"tx"`
}

// A Proposal is what an order asks consent for when the accepted terms can no longer be
// kept.
type Proposal struct {
	Reason  string    `json:"reason" doc:"why the accepted terms can no longer be kept"`
	Cause   *Cause    `json:"cause,omitempty" doc:"that for programs"`
	Created time.Time `json:"created"`
	Review  Review    `json:"review" doc:"as of swap.prepare; consent names its digest"`
}

// Submitted is the progress of submitting an order to its provider.
type Submitted struct {
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Tries    int       `json:"tries"`
	Accepted bool      `json:"accepted,omitempty" doc:"the provider has the order"`
	Refused  bool      `json:"refused,omitempty" doc:"of a signed order: the provider says that it did not take it; it may live all the same"`
}

// An Attempt is one signed transaction of a step.
type Attempt struct {
	Kind           string    `json:"kind" of:"AttemptKind" doc:"call, bump (the call for more) or cancel"`
	Tx             Hash      `json:"tx"`
	MaxFee         Amount    `json:"maxFeePerGas" doc:"wei per unit"`
	MaxPriorityFee Amount    `json:"maxPriorityFeePerGas" doc:"wei per unit"`
	Signed         time.Time `json:"signed"`
}

// A Leftover is an allowance that an order left behind.
type Leftover struct {
	ChainID uint64  `json:"chainId"`
	Token   Address `json:"token"`
	Spender Address `json:"spender"`
	Amount  Amount  `json:"amount"`
}

// A Claim is what a provider reports about an order.
type Claim struct {
	State          string `json:"state" of:"OrderState"`
	ProviderStatus string `json:"providerStatus,omitempty" doc:"the provider's own name of that status"`
	ChainID        uint64 `json:"chainId,omitempty" doc:"where tx is, as far as it said"`
	Tx             Hash   `json:"tx,omitempty"`
	Reason         string `json:"reason,omitempty"`
}

// A Closing is the end of an order that nothing proves, with what was known at that moment.
type Closing struct {
	At               time.Time         `json:"at"`
	By               string            `json:"by" of:"ClosedBy" doc:"person, or age: nothing proved its end for 30 days"`
	Watched          bool              `json:"watched" doc:"the daemon still looks for a proof"`
	Claim            *Claim            `json:"claim,omitempty" doc:"what the provider had said"`
	CandidatePayment *CandidatePayment `json:"candidatePayment,omitempty" doc:"the payment that had been seen"`
	Searched         map[string]uint64 `json:"searched,omitempty" doc:"last block that was searched, by chain id"`
}

// A CandidatePayment is a payment that may settle an order but may also belong to another.
type CandidatePayment struct {
	End     string    `json:"end" of:"OrderState" doc:"what it would prove: filled or refunded"`
	ChainID uint64    `json:"chainId"`
	Tx      Hash      `json:"tx"`
	Token   Address   `json:"token"`
	Amount  Amount    `json:"amount"`
	From    Address   `json:"from" doc:"who paid; of a native coin by way of a contract, who sent the transaction"`
	Time    time.Time `json:"time,omitzero" doc:"of its block"`
}

// A Verdict is the proven end of an order.
type Verdict struct {
	State        string    `json:"state" of:"OrderState"`
	ProvenBy     string    `json:"provenBy,omitempty" of:"ProvenBy" doc:"the way in which it was proven: fill, arrival, refund, absence …"`
	Received     *Spend    `json:"received,omitempty" doc:"what arrived, where a log or a balance shows it; of a refund, on the source chain"`
	BelowMinimum bool      `json:"belowMinimum,omitempty" doc:"less than the minimum received"`
	Spent        *Spend    `json:"spent,omitempty" doc:"what left the account, where that may be another amount than was signed"`
	Sources      string    `json:"sources" of:"VerdictSource" doc:"how many RPC hosts agree, or without a receipt what the wallet itself knows"`
	Receipt      string    `json:"receipt,omitempty" of:"VerdictReceipt" doc:"whether the receipts of evidence and deposit were recomputed, or rest on what hosts say; absent: there is none, or an older version gave the verdict"`
	Evidence     *Evidence `json:"evidence,omitempty" doc:"of the transaction that ended it"`
	Deposit      *Evidence `json:"deposit,omitempty" doc:"of the order's own transaction, which that answers"`
	Logs         []LogRef  `json:"logs,omitempty" doc:"what of the evidence counts; each counts for one order only"`
	Absence      *Absence  `json:"absence,omitempty" doc:"where nothing was found"`
}

// A LogRef identifies one log of a transaction, or its native payment.
type LogRef struct {
	ChainID         uint64 `json:"chainId"`
	Tx              Hash   `json:"tx"`
	LogIndex        int    `json:"logIndex" doc:"among the transaction's logs, from 0; -1: its payment of the native coin"`
	BalanceIncrease bool   `json:"balanceIncrease,omitempty" doc:"the payment is seen in a balance that the block raised"`
}

// An Absence is a range of blocks that was searched without a result.
type Absence struct {
	ChainID   uint64    `json:"chainId"`
	From      uint64    `json:"from" doc:"first block"`
	Through   uint64    `json:"through" doc:"last block"`
	BlockHash Hash      `json:"blockHash" doc:"of the last block"`
	Time      time.Time `json:"time" doc:"of the last block"`
	Hosts     []string  `json:"hosts" doc:"RPC hosts that searched"`
}

// Evidence is what the chain says about one mined transaction.
type Evidence struct {
	ChainID   uint64    `json:"chainId"`
	Tx        Hash      `json:"tx"`
	Block     uint64    `json:"block"`
	BlockHash Hash      `json:"blockHash"`
	Success   bool      `json:"success"`
	Depth     uint64    `json:"depth" doc:"blocks on top, its own included"`
	GasUsed   uint64    `json:"gasUsed"`
	FeePaid   Amount    `json:"feePaid" doc:"wei"`
	Hosts     []string  `json:"hosts" doc:"RPC hosts that agree"`
	To        Address   `json:"to"`
	From      Address   `json:"from,omitempty"`
	Value     Amount    `json:"value,omitempty" doc:"wei sent along"`
	Time      time.Time `json:"time,omitzero" doc:"of the block"`
}

// An Entry is one line of an order's history.
type Entry struct {
	Time      time.Time `json:"time"`
	State     string    `json:"state" of:"OrderState"`
	Condition string    `json:"condition,omitempty" of:"Condition"`
	Step      int       `json:"step"`
	Note      string    `json:"note,omitempty" doc:"what happened, in words"`
	Cause     *Cause    `json:"cause,omitempty" doc:"that for programs; absent in a line of an older version"`
}

// A Cause is a reason or a note in machine-readable form, so that clients can show it in
// the user's language.
type Cause struct {
	Reason     string            `json:"reason" of:"ReasonCode" doc:"what happened"`
	Error      string            `json:"error,omitempty" doc:"of a refusal: its name in the table of errors"`
	Details    map[string]string `json:"details,omitempty" doc:"of a refusal as in an error's; else figures by name, amounts in base units: minOut and offered in the output token, spent and allowed in the input token, previous and ceiling in the source chain's native coin"`
	QuotedText string            `json:"quotedText,omitempty" doc:"text of a third party, not translated"`
	QuotedFrom string            `json:"quotedFrom,omitempty" of:"TextAuthor" doc:"who wrote quotedText: provider or node"`
}
