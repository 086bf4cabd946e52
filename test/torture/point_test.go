//go:build faults && linux

package torture

// points are the points of an order's life at which a daemon may die by itself. test/crash
// compares the names with the source.
var points = []string{
	"journal.before_accepted", "journal.after_accepted", "journal.after_approving", "journal.before_executing", "journal.before_submitting", "journal.after_settling",
	"journal.before_filled", "journal.after_filled", "journal.before_refunded", "journal.before_search", "journal.after_step", "journal.before_signature", "journal.after_signature",
	"journal.before_attempt", "journal.after_closed", "journal.before_claim", "journal.before_request", "journal.after_request", "journal.before_change", "journal.after_change", "journal.before_propose",
	"journal.before_cancelled", "journal.before_expired", "journal.before_failed",
	"sender.before_sign", "sender.before_journal", "sender.after_journal", "sender.before_broadcast", "sender.after_broadcast", "sender.after_sent", "sender.before_mined", "sender.after_mined",
	"sender.before_bump_journal", "sender.after_bump_journal", "sender.before_cancel_journal", "sender.after_cancel_journal", "sender.before_reject", "sender.after_reject",
	"engine.before_typed", "engine.after_typed", "engine.before_deferred", "engine.after_deferred", "engine.before_submit", "engine.after_submit", "engine.before_status", "engine.after_status",
	"engine.before_invalidate", "engine.after_invalidate",
}
