package host

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"syscall"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/tokens"

	bolt "go.etcd.io/bbolt/errors"
)

// sentinels maps errors of packages that the host imports to names of the protocol's
// error table. Refusals need no row: their codes are such names.
var sentinels = []Sentinel{
	{Err: chain.ErrNoNetwork, Name: "network_unknown"},
	{Err: chain.ErrNetworkEnded, Name: "network_ended"},
	{Err: chain.ErrWrongChain, Name: "wrong_chain"},
	{Err: chain.ErrUnreachable, Name: "network_unreachable", Text: unreachableText},
	{Err: chain.ErrWouldRevert, Name: "would_revert"},
	{Err: chain.ErrCeiling, Name: "gas_ceiling"},
	{Err: chain.ErrExpired, Name: "too_late"},
	{Err: chain.ErrRejected, Name: "tx_rejected"},
	{Err: chain.ErrFunds, Name: "insufficient_funds"},
	{Err: chain.ErrDisagree, Name: "rpc_disagree"},
	{Err: chain.ErrNonceBlocked, Name: "nonce_blocked"},
	{Err: chain.ErrNonceUsed, Name: "nonce_used"},
	{Err: chain.ErrLedger, Name: "journal_failed"},
	{Err: journal.ErrUnreadable, Name: "record_damaged"},
	{Err: journal.ErrIndex, Name: "index_damaged"},
	{Err: tokens.ErrNotToken, Name: "not_a_token", Details: whyNotToken},
	{Err: tokens.ErrReserved, Name: "not_importable"},
	{Err: tokens.ErrTooMany, Name: "too_many_tokens"},
	{Err: chain.ErrNode, Name: "node_error"}, // after chain's other errors, which may wrap what a node said
	{Err: context.DeadlineExceeded, Name: "timed_out"},
	{Err: context.Canceled, Name: "timed_out"}, // the client is gone or the daemon is about to stop
}

// storage maps the causes of a database write error.
var storage = []Sentinel{
	{Err: syscall.ENOSPC, Name: "database_full"},
	{Err: syscall.EDQUOT, Name: "database_full"},
	{Err: syscall.EFBIG, Name: "database_full"},
	{Err: syscall.EROFS, Name: "database_readonly"},
	{Err: fs.ErrPermission, Name: "database_readonly"},
	{Err: bolt.ErrDatabaseReadOnly, Name: "database_readonly"},
	{Err: bolt.ErrTimeout, Name: "database_locked"},
}

// errorOf converts an error to one of the protocol. An error without a row becomes
// internal, and only the log has its text.
func (s *Server) errorOf(err error) *protocol.Error {
	var own *protocol.Error
	var refusal *swap.Refusal
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &refusal):
		return s.refusalOf(refusal)
	}
	if errors.Is(err, context.Canceled) && s.isStopping() {
		return protocol.New("stopping", "")
	}
	for _, table := range [][]Sentinel{s.Errors, sentinels, storage} {
		for _, row := range table {
			if errors.Is(err, row.Err) {
				return row.errorOf(err)
			}
		}
	}
	if s.isStopping() {
		return protocol.New("stopping", "")
	}
	s.Log.Error().Err(err).Msg("unlisted error")
	return protocol.New("internal", "")
}

// errorOf returns the protocol error of the row for err, which matches the row's
// sentinel.
func (row Sentinel) errorOf(err error) *protocol.Error {
	e := protocol.New(row.Name, row.Err.Error())
	if row.Text != nil {
		e.Message = row.Text(err)
	}
	if r, ok := row.Err.(interface{ Remedy() string }); ok && r.Remedy() != "" {
		e.Remedy = r.Remedy()
	}
	if row.Details != nil {
		e.Data = row.Details(err)
	}
	return e
}

// refusalOf converts a refusal with its reason, field and data. Its own code decides, not
// the error it wraps; the cause of a journal failure is only logged.
func (s *Server) refusalOf(r *swap.Refusal) *protocol.Error {
	name := string(r.Code)
	if r.Code == swap.JournalFailed {
		name = storageName(r.Err)
	}
	e := protocol.New(name, r.Reason)
	if r.Err != nil {
		s.Log.Warn().Err(r.Err).Str("error", name).Msg("refused")
	}
	e.Data = detailsOf(r.Data, r.Field)
	return e
}

// detailsOf returns a refusal's data together with the invalid field.
func detailsOf(data map[string]string, field string) map[string]string {
	details := maps.Clone(data)
	if field == "" {
		return details
	}
	if details == nil {
		details = map[string]string{}
	}
	details["field"] = field
	return details
}

func unreachableText(err error) string {
	var named *chain.UnreachableError
	if !errors.As(err, &named) {
		return chain.ErrUnreachable.Error()
	}
	return named.Public()
}

func whyNotToken(err error) map[string]string {
	var why *tokens.NotTokenError
	if !errors.As(err, &why) {
		return nil
	}
	return map[string]string{"reason": why.Why}
}

func storageName(err error) string {
	for _, row := range storage {
		if errors.Is(err, row.Err) {
			return row.Name
		}
	}
	return string(swap.JournalFailed)
}
