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
	{"StepKind", []string{"call", "typed", "late"}},
	{"EffectKind", []string{"approve", "permit", "swap", "wrap", "unwrap", "order", "deposit", "opaque"}},
	{"SettledBy", []string{"own_call", "provider"}},
	{"FeeBasis", []string{"decoded", "told", "asked", "none"}},
	{"Severity", []string{"note", "warn", "acknowledge", "block"}},
	{"FindingCode", []string{
		"gas_insufficient", "gas_ceiling", "gas_scam", "value_unknown", "price_unknown", "price_off", "output_unverified", "output_imitates", "slippage_low", "slippage_high",
		"wraps_first", "settlement_trusted", "not_simulated", "fallback_used", "floor_lowered", "ceiling_raised", "fee_raised",
		"decimals_unconfirmed",
	}},
	{"PasswordReason", []string{"unpriced", "hourly_limit", "slippage", "bad_price"}},
	{"OrderState", []string{"accepted", "approving", "executing", "submitting", "settling", "filled", "refunded", "failed", "expired", "cancelled", "unreadable"}},
	{"Condition", []string{
		"waiting_unlock", "needs_consent", "awaiting_refund", "awaiting_proof", "payment_seen",
		"amount_unclear", "cancelling", "waiting_nonce", "waiting_allowance",
		"waiting_similar", "written_by_newer", "record_tampered",
	}},
	{"AttemptKind", []string{"call", "bump", "cancel"}},
	{"Tier", []string{TierNormal, TierFast}},
	{"ProvenBy", []string{
		"own_call", "opaque_call", "fill", "part", "arrival", "refund", "revoke", "revert", "other_nonce", "allowance_kept", "used_nonce",
		"absence", "unsigned_late", "never_sent", "void", "cancel", "withdrawn", "never_sent_cancelled",
	}},
	{"CauseWord", []string{
		"refused", "refused_for_now", "refused_unsigned", "refused_by_provider", "outside_terms",
		"price_fell", "refund_changed", "acts_differently", "permit_changed", "kind_gone", "gas_too_dear", "approval_needed", "approval_changed",
		"balance_short", "cancel_too_dear", "approval_hidden", "allowance_taken", "allowance_unchecked", "look_at", "ends_by_itself",
		"seal_broken",
		"deadline_passed", "withdrawn", "nonce_used", "cancel_mined", "reverted", "not_taken", "not_handed_over", "proven",
		"speedup_too_dear", "speedup_would_fail", "speedup_funds", "speedup_often", "speedup_late", "speedup_ended", "speedup_cancelling",
		"begun", "begun_approving", "begun_executing", "approved", "steps_done", "keys_locked", "waits", "holds_allowance", "approval_skipped",
		"approval_again", "approvals_adapted", "refreshed", "within_terms", "search_begun", "hands_over_next", "signed", "step_sent", "step_mined",
		"pending", "cancelling", "voiding", "sped_up", "to_be_sped_up", "telling_provider", "provider_has_it", "submitted", "provider_missed",
		"answer_unknown", "searched", "provider_says", "user_cancelled", "user_accepted", "user_sped_up", "user_raised_ceiling",
	}},
	{"Speaker", []string{"provider", "node"}},
	{"Trusted", []string{"relay_solver", "relay_router", "intent_fillers"}},
	{"AllowanceKind", []string{AllowanceERC20, AllowancePermit2}},
}
