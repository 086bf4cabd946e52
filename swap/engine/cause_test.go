package engine

import (
	"fmt"
	"strings"

	"swapkeep/swap"
	"swapkeep/swap/journal"
)

// uncaused describes an order, proposal or history line with a text but no cause, or a
// cause but no text; "" if there is none. bench.waitUntil checks every order with it.
func uncaused(o swap.Order, lines []journal.Entry) string {
	if (o.Reason == "") != (o.Cause == nil) {
		return fmt.Sprintf("the reason is %q, its cause %+v", o.Reason, o.Cause)
	}
	if p := o.Proposal; p != nil && (p.Reason == "" || p.Cause == nil) {
		return fmt.Sprintf("it proposes because %q, %+v", p.Reason, p.Cause)
	}
	for _, l := range lines {
		if l.Note == "test" || l.Note == "" && l.Cause != nil && swap.NewCause(l.Cause.Reason).Text() == "" {
			continue // written by a test
		}
		if (l.Note == "") != (l.Cause == nil) || strings.ContainsAny(l.Note, "{}") {
			return fmt.Sprintf("a line says %q, its cause %+v", l.Note, l.Cause)
		}
	}
	return ""
}
