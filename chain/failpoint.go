package chain

import "swapkeep/internal/failpoint"

// A point is a place in a transaction's life where a fault test may kill the process. A
// release keeps its number but not its name.
type point uint8

const (
	beforeSign point = iota
	beforeJournal
	afterJournal
	beforeBroadcast
	afterBroadcast
	afterSent
	beforeMined
	afterMined
	beforeReject
	afterReject
	beforeBumpJournal
	afterBumpJournal
	beforeCancelJournal
	afterCancelJournal
)

// pointNames are the names that fault tests use.
var pointNames = [...]string{
	beforeSign:          "sender.before_sign",
	beforeJournal:       "sender.before_journal",
	afterJournal:        "sender.after_journal",
	beforeBroadcast:     "sender.before_broadcast",
	afterBroadcast:      "sender.after_broadcast",
	afterSent:           "sender.after_sent",
	beforeMined:         "sender.before_mined",
	afterMined:          "sender.after_mined",
	beforeReject:        "sender.before_reject",
	afterReject:         "sender.after_reject",
	beforeBumpJournal:   "sender.before_bump_journal",
	afterBumpJournal:    "sender.after_bump_journal",
	beforeCancelJournal: "sender.before_cancel_journal",
	afterCancelJournal:  "sender.after_cancel_journal",
}

func (s *Sender) point(p point) {
	if failpoint.Enabled {
		failpoint.Point(pointNames[p])
	}
	if s.onPoint != nil {
		s.onPoint(p)
	}
}
