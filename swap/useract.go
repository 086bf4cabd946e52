package swap

import (
	"crypto/sha256"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// ConfirmedBy says by what a person confirmed an act.
type ConfirmedBy string

const (
	ByTerminal ConfirmedBy = "terminal" // a command, also swapkeep approve for what a browser asked
	ByPopup    ConfirmedBy = "popup"    // the call of a browser itself, which the setting confirm allows
	ByPinentry ConfirmedBy = "pinentry" // a dialog of pinentry
	ByZenity   ConfirmedBy = "zenity"   // a dialog of zenity
	ByRules    ConfirmedBy = "rules"    // a file of rules; in a sandbox alone
)

// ConfirmedByAll returns every ConfirmedBy.
func ConfirmedByAll() []ConfirmedBy {
	return []ConfirmedBy{ByTerminal, ByPopup, ByPinentry, ByZenity, ByRules}
}

// A Confirmation is a person's yes to an act.
type Confirmation struct {
	By    ConfirmedBy `json:"by,omitempty"`
	Lines common.Hash `json:"lines,omitzero"` // [HashLines] of what was shown
}

// A UserAct is what a user did for which something may be signed: who asked, how it was
// confirmed, and when.
type UserAct struct {
	Action string `json:"action"`           // execute, revoke, accept, cancel or speedup; propose is the engine's own
	Origin string `json:"origin,omitempty"` // extension origin or terminal
	Confirmation
	ActedAt time.Time `json:"actedAt"`
}

// HashLines identifies lines: the SHA-256 of their JSON.
func HashLines(lines []Line) common.Hash { return sha256.Sum256(MustJSON(lines)) }
