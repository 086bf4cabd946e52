package protocol

import "time"

// A PendingResult lists what waits for a person's confirmation, oldest first.
type PendingResult struct {
	Waiting []Pending `json:"waiting"`
}

// A Pending is one act that waits for a person's confirmation.
type Pending struct {
	ID       string    `json:"id"`
	Act      string    `json:"act" of:"ConfirmedAct"`
	Origin   string    `json:"origin" doc:"who asked for it"`
	Lines    []Line    `json:"lines,omitempty" doc:"what it does; for a terminal"`
	Asked    time.Time `json:"asked"`
	Expires  time.Time `json:"expires" doc:"it is given up then"`
	Shown    bool      `json:"shown,omitempty" doc:"a dialog shows it, or has shown it; then it is decided with swapkeep approve"`
	Silenced bool      `json:"silenced,omitempty" doc:"its origin's requests were declined twice in a row and are not shown for a while; swapkeep approve decides"`
	Unshown  int       `json:"unshown,omitempty" doc:"requests of its origin since then"`
}

type DecideParams struct {
	ID       string `json:"id" doc:"of confirm.pending"`
	Approve  bool   `json:"approve" doc:"false: it is declined"`
	Password Secret `json:"password,omitempty" doc:"the wallet's password; required to approve"`
}

type DecideResult struct {
	ID       string `json:"id"`
	Approved bool   `json:"approved"`
}
