package protocol

// Results of a check. A note is worth knowing; nothing is wrong.
const (
	CheckOK      = "ok"
	CheckNote    = "note"
	CheckWarn    = "warn" // works, but may stop working
	CheckFail    = "fail"
	CheckSkipped = "skipped" // could not be checked; the evidence says why
)

// DiagnoseParams select how much the daemon checks.
type DiagnoseParams struct {
	Online bool `json:"online,omitempty" doc:"also asks every network for its latest block"`
}

// Diagnosis is the result of the daemon's self-check.
type Diagnosis struct {
	Version string  `json:"version" doc:"product version"`
	Checks  []Check `json:"checks"`
}

// A Check is the result of one check.
type Check struct {
	ID       string `json:"id" doc:"such as keychain"`
	Status   string `json:"status" of:"CheckStatus" doc:"ok, note, warn, fail or skipped"`
	Evidence string `json:"evidence" doc:"what was seen"`
	Remedy   string `json:"remedy,omitempty" doc:"what to do, where something is wrong"`
	// Details go into a report and are not displayed.
	Details []string `json:"details,omitempty" doc:"of the check of providers: members of answers that nothing reads, and how often each was met since the daemon started"`
}
