package protocol

// A Vocabulary is the list of values of a text field whose tag "of" names it; for a list
// the tag is about the elements, for an object about the keys. A newer daemon may send
// other values: a client shows an unknown one as it is and must not decide anything by
// it.
type Vocabulary struct {
	Name  string
	Words []string
}

// Vocabularies are all vocabularies. Those of package swap repeat its tables, because
// clients import only this package; a test of package host compares them.
var Vocabularies = []Vocabulary{
	{"CallerKind", []string{KindBrowser, KindTerminal}},
	{"DaemonState", []string{DaemonRunning, DaemonStopping}},
	{"CheckStatus", []string{CheckOK, CheckNote, CheckWarn, CheckFail, CheckSkipped}},
	{"HostProblem", []string{HostSilent, HostWrongChain, HostOldBlock, HostNoLogs, HostFewLogs, HostNotFinal, HostNoReceipts, HostNoSimulate}},
	{"KeysState", []string{KeysNone, KeysLocked, KeysUnlocked}},
	{"KeysCause", []string{CauseUnlocked, CauseLocked, CauseListed, CauseDiscovered}},

	{"SettingType", []string{SettingPercent, SettingDuration, SettingNumber, SettingSwitch, SettingChoice, SettingText, SettingURL, SettingURLs}},
	{"SettingSource", []string{FromDefault, FromFile, FromSetting, FromEnvironment, FromFlag}},
	{"SettingRight", []string{RightSession, RightPassword, RightNone}},
	{"SettingApplies", []string{AppliesNow, AppliesRestart}},
	{"ChartPeriod", []string{"24h", "week", "month"}},

	{"ProviderKind", []string{"dex", "bridge", "intent", "gasless"}},
	{"OrderKind", []string{"dex", "bridge", "intent", "gasless", "wallet"}}, // wallet: a revoke
	{"SupportLevel", []string{"active", "disabled", "not_supported"}},
	{"StepKind", []string{"call", "typed", "deferred"}},
	{"EffectKind", []string{"fund", "approve", "permit", "swap", "wrap", "unwrap", "order", "deposit", "opaque"}},
	{"SettledBy", []string{"own_call", "provider"}},
	{"FeeBasis", []string{"decoded", "reported", "requested", "none"}},
	{"ConfirmedAct", []string{"execute", "revoke", "accept", "cancel", "speedup"}},
	{"ConfirmedBy", []string{"terminal", "popup", "pinentry", "zenity", "rules"}},
	{"ArgKind", []string{"text", "number", "units", "word"}},
	{"Severity", []string{"note", "warn", "acknowledge", "block"}},
	{"FindingCode", []string{
		"gas_insufficient", "gas_ceiling", "gas_excessive", "value_unknown", "price_unknown", "price_impact", "output_unverified", "output_lookalike", "slippage_low", "slippage_high",
		"wraps_first", "settlement_trusted", "not_simulated", "fallback_used", "minimum_lowered", "ceiling_raised", "fee_raised",
		"decimals_unconfirmed", "isolated_account",
	}},
	{"PasswordReason", []string{"unpriced", "hourly_limit", "slippage", "bad_price"}},
	{"OrderState", []string{"accepted", "approving", "executing", "submitting", "settling", "closed", "filled", "refunded", "failed", "expired", "cancelled", "unreadable"}},
	{"Condition", []string{
		"waiting_unlock", "needs_consent", "awaiting_refund", "awaiting_proof", "payment_seen", "likely_paid",
		"amount_unclear", "cancelling", "waiting_nonce", "waiting_allowance",
		"waiting_similar", "written_by_newer", "record_tampered",
	}},
	{"ClosedBy", []string{"person", "age"}},
	{"AttemptKind", []string{"call", "bump", "cancel"}},
	{"Tier", []string{TierNormal, TierFast}},
	{"ProvenBy", []string{
		"own_call", "opaque_call", "fill", "partial_fill", "arrival", "refund", "revoke", "revert", "tx_replaced", "allowance_kept", "order_nonce_used",
		"absence", "never_signed", "never_sent", "invalidated", "cancel", "withdrawn", "never_sent_cancelled",
	}},
	{"VerdictSource", []string{"one_host", "two_hosts", "nothing_signed", "no_spend_signed", "wrapped_only", "isolated_only", "nonce_used", "never_sent"}},
	{"VerdictReceipt", []string{"recomputed", "not_recomputable", "not_recomputed"}},
	{"ReasonCode", []string{
		"refused", "refused_for_now", "refused_unsigned", "refused_by_provider", "outside_terms",
		"price_fell", "refund_changed", "effects_changed", "permit_changed", "route_unavailable", "gas_above_ceiling", "approval_needed", "approval_changed",
		"balance_short", "cancel_above_ceiling", "approval_not_visible", "allowance_spent", "allowance_unchecked", "check_transaction", "invalidation_failed",
		"receipts_awaited", "receipt_forged", "record_tampered",
		"deadline_passed", "withdrawn", "nonce_used", "cancel_mined", "reverted", "not_broadcast", "not_submitted", "proven", "user_closed", "closed_too_old",
		"speedup_above_ceiling", "speedup_would_fail", "speedup_insufficient_funds", "speedup_limit", "speedup_too_late", "speedup_ended", "speedup_cancelling",
		"accepted", "approving", "executing", "approved", "steps_done", "keys_locked", "waiting", "allowance_locked", "approval_skipped",
		"approval_restored", "approvals_adapted", "quote_refreshed", "within_terms", "search_started", "deposit_next", "signed", "step_sent", "step_mined",
		"pending", "cancelling", "returned", "left_isolated", "invalidating", "sped_up", "speedup_pending", "submitting", "provider_received", "submitted", "provider_unreachable",
		"answer_unknown", "searched", "provider_reported", "user_cancelled", "user_accepted", "user_sped_up", "user_raised_ceiling",
	}},
	{"TextAuthor", []string{"provider", "node"}},
	{"Trusted", []string{"relay_solver", "relay_router", "intent_fillers"}},
	{"AllowanceKind", []string{AllowanceERC20, AllowancePermit2}},
}
