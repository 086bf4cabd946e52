package audit

import (
	"fmt"
	"slices"
	"strings"
)

// A proofRule is what a verdict must show for one proof, and a check of its truth.
type proofRule struct {
	end     string
	tx      string   // whose transaction its evidence is: "own", "another's", or "" for none
	failed  bool     // whether that transaction failed
	where   string   // its chain: "source" or "destination"
	absence bool     // whether blocks were searched in vain
	has     []string // which of received, spent, deposit and logs are required
	check   func(*Audit, Order) string
}

// proofRules lists every proof by which an order can end here. Received may be missing from
// own_call and fill if the output is the native coin, which leaves no log: checkBlockCoins compares
// the block's balance with the minimum received. tx_replaced has no row: nobody else has
// the keys.
var proofRules = map[string]proofRule{
	"own_call":             {"filled", "own", false, "source", false, nil, (*Audit).receives},
	"opaque_call":          {"filled", "own", false, "source", false, []string{"received", "logs"}, nil},
	"fill":                 {"filled", "another's", false, "source", false, []string{"logs"}, (*Audit).receives},
	"partial_fill":         {"filled", "another's", false, "source", false, []string{"received", "spent", "logs"}, nil},
	"arrival":              {"filled", "another's", false, "destination", false, []string{"received", "deposit", "logs"}, (*Audit).arrived},
	"refund":               {"refunded", "another's", false, "source", false, []string{"received", "deposit", "logs"}, (*Audit).deposited},
	"revoke":               {"filled", "own", false, "source", false, nil, (*Audit).revokes},
	"allowance_kept":       {"failed", "own", false, "source", false, nil, (*Audit).revokes},
	"revert":               {"failed", "own", true, "source", false, nil, nil},
	"order_nonce_used":     {"failed", "", false, "", true, nil, nil},
	"absence":              {"expired", "", false, "", true, nil, (*Audit).outlasted},
	"invalidated":          {"cancelled", "own", false, "source", true, nil, nil},
	"cancel":               {"cancelled", "own", false, "source", false, nil, (*Audit).cancels},
	"never_signed":         {"expired", "", false, "", false, nil, (*Audit).unsigned},
	"withdrawn":            {"cancelled", "", false, "", false, nil, (*Audit).unsigned},
	"never_sent":           {"expired", "", false, "", false, nil, (*Audit).refused},
	"never_sent_cancelled": {"cancelled", "", false, "", false, nil, (*Audit).refused},
}

// verdictSources lists the sources that a verdict may name: what was read from a chain rests
// on hosts, everything else on what the wallet recorded.
var (
	hostSources    = []string{"one_host", "two_hosts"}
	verdictSources = map[string][]string{
		"never_signed": {"nothing_signed", "no_spend_signed", "wrapped_only", "isolated_only"}, "withdrawn": {"nothing_signed", "no_spend_signed", "wrapped_only", "isolated_only"},
		"never_sent": {"never_sent"}, "never_sent_cancelled": {"never_sent"},
	}
)

// sourcesOf returns the sources that a verdict of this proof may name.
func sourcesOf(by string) []string {
	if known, ok := verdictSources[by]; ok {
		return known
	}
	return hostSources
}

// checkProof checks that a verdict has exactly what its proof requires, and that it is true.
func (r *Audit) checkProof(o Order) {
	v := o.Verdict
	w, known := proofRules[v.ProvenBy]
	if !known || w.end != o.State || v.State != o.State {
		r.Find("%s: the verdict is %s, by %q", r.orderLabel(o), v.State, v.ProvenBy)
		return
	}
	r.Count("proven by "+v.ProvenBy, 1)
	if v.Receipt != "" {
		r.Count("receipts "+v.Receipt, 1)
	}
	if (v.Evidence != nil) != (w.tx != "") || (v.Absence != nil) != w.absence || !slices.Contains(sourcesOf(v.ProvenBy), v.Sources) {
		r.Find("%s: proven by %s, with evidence %+v, absence %+v, sources %q", r.orderLabel(o), v.ProvenBy, v.Evidence, v.Absence, v.Sources)
		return
	}
	if without := slices.DeleteFunc(slices.Clone(w.has), hasParts(v)); len(without) > 0 {
		r.Find("%s: proven by %s, without %s", r.orderLabel(o), v.ProvenBy, without)
		return
	}
	if v.Evidence != nil {
		tx := v.Evidence.Tx
		chain := map[string]uint64{"source": o.Terms.SrcChainID, "destination": o.Terms.DstChainID}[w.where]
		if own := orderOf(r.records[tx]) == o.ID; v.Evidence.Success == w.failed || own != (w.tx == "own") || v.Evidence.ChainID != chain {
			r.Find("%s: proven by %s, of a transaction on chain %d, its own %t, success %t", r.orderLabel(o), v.ProvenBy, v.Evidence.ChainID, own, v.Evidence.Success)
		}
	}
	if w.check != nil {
		if wrong := w.check(r, o); wrong != "" {
			r.Find("%s: proven by %s: %s", r.orderLabel(o), v.ProvenBy, wrong)
		}
	}
}

// hasParts returns a function that reports which parts a verdict has.
func hasParts(v *verdict) func(what string) bool {
	has := map[string]bool{"received": v.Received != nil, "spent": v.Spent != nil, "deposit": v.Deposit != nil, "logs": len(v.Logs) > 0}
	return func(what string) bool { return has[what] }
}

// receives: only received native coin may be missing.
func (r *Audit) receives(o Order) string {
	if o.Verdict.Received == nil && o.Terms.TokenOut != native {
		return "it does not say what came"
	}
	return ""
}

// deposited: the payment follows a transaction of the order itself that is on the chain.
func (r *Audit) deposited(o Order) string {
	d := o.Verdict.Deposit
	tx := d.Tx
	if d.ChainID != o.Terms.SrcChainID || !d.Success || orderOf(r.records[tx]) != o.ID || !r.mined(d.ChainID, tx) {
		return "its deposit " + d.Tx.Hex() + " is none of its own"
	}
	return ""
}

// arrived: besides, a payment of the intent provider fills the relay that the deposit names, since
// nothing else links one.
func (r *Audit) arrived(o Order) string {
	if wrong := r.deposited(o); wrong != "" {
		return wrong
	}
	if o.Terms.Provider == "intent" && !r.fillsRelay(o, o.Verdict.Deposit.Tx, o.Verdict.Evidence.Tx) {
		return "nothing links the intent provider's payment to it"
	}
	return ""
}

// revokes: only a revoke ends like this.
func (r *Audit) revokes(o Order) string {
	if o.Terms.Provider != "wallet" {
		return "it is no revoke"
	}
	return ""
}

// outlasted: the search went past the last second of what was signed.
func (r *Audit) outlasted(o Order) string {
	if last := o.Steps[len(o.Steps)-1].Effect.Deadline; last.IsZero() || !o.Verdict.Absence.Time.After(last) {
		return "searched until " + o.Verdict.Absence.Time.String() + ", and it was good until " + last.String()
	}
	return ""
}

// cancels: the mined transaction is a cancelling one, which pays nobody.
func (r *Audit) cancels(o Order) string {
	for _, x := range slices.Concat(r.owns, r.isolatedTxs) {
		if x.tx.Hash() == o.Verdict.Evidence.Tx {
			if to := x.tx.To(); to != nil && *to == x.account && (x.account == o.Terms.Account || x.account == o.Terms.Isolated) && x.tx.Value().Sign() == 0 && len(x.tx.Data()) == 0 {
				return ""
			}
		}
	}
	return "no transaction of an account of its to itself"
}

// unsigned: the journal has no transaction of the order except completed approvals and the
// wrap that comes first.
func (r *Audit) unsigned(o Order) string {
	var harmless []string
	if o.Wrapped {
		harmless = append(harmless, o.ID+"/wrap")
	}
	for i, s := range o.Steps[:min(o.Step, len(o.Steps))] {
		if s.Effect.Kind == "approve" || s.Effect.Kind == "fund" {
			harmless = append(harmless, fmt.Sprint(o.ID, "/", i))
		}
	}
	for _, rec := range r.recordsOf(o) {
		if !slices.Contains(harmless, rec.Key) {
			return "the journal has its transaction " + rec.Key + ", " + rec.State
		}
	}
	if o.Submission != nil {
		return "its provider was told of it"
	}
	return ""
}

// refused: a node was sent its transaction, and none ever accepted it.
func (r *Audit) refused(o Order) string {
	for _, rec := range r.recordsOf(o) {
		if rec.State == "rejected" {
			return ""
		}
	}
	return "the journal has no transaction of its that was rejected"
}

// recordsOf returns an order's records, sorted by key.
func (r *Audit) recordsOf(o Order) (all []senderRecord) {
	for _, rec := range r.records {
		if orderOf(rec) == o.ID {
			all = append(all, rec)
		}
	}
	slices.SortFunc(all, func(a, b senderRecord) int { return strings.Compare(a.Key, b.Key) })
	return slices.CompactFunc(all, func(a, b senderRecord) bool { return a.Key == b.Key })
}

// checkAbsence checks that the blocks searched in vain are those of the chain.
func (r *Audit) checkAbsence(o Order) {
	a := o.Verdict.Absence
	if a == nil {
		return
	}
	if a.ChainID != o.Terms.SrcChainID || a.From == 0 || a.From > a.Through || len(a.Hosts) == 0 {
		r.Find("%s: searched in vain: %+v", r.orderLabel(o), *a)
		return
	}
	head, err := r.Chains[a.ChainID].Header(r.Context, a.Through)
	if err != nil || head.Hash() != a.BlockHash || int64(head.Time) != a.Time.Unix() {
		r.Find("%s: searched in vain up to what the chain does not have: %+v, %v", r.orderLabel(o), *a, err)
	}
}
