package protocol

// What a check found. A note is worth knowing and nothing is wrong.
const (
	CheckOK      = "ok"
	CheckNote    = "note"
	CheckWarn    = "warn" // works, and may not for long
	CheckFail    = "fail"
	CheckSkipped = "skipped" // could not be looked at, which the evidence explains
)

// DiagnoseParams say how far the daemon looks.
type DiagnoseParams struct {
	Online bool `json:"online,omitempty" doc:"also asks every network for its latest block"`
}

// Diagnosis is what the daemon found out about itself.
type Diagnosis struct {
	Version string  `json:"version" doc:"product version"`
	Checks  []Check `json:"checks"`
}

// A Check is one thing that was looked at.
type Check struct {
	ID       string `json:"id" doc:"such as keychain"`
	Status   string `json:"status" of:"CheckStatus" doc:"ok, note, warn, fail or skipped"`
	Evidence string `json:"evidence" doc:"what was seen"`
	Remedy   string `json:"remedy,omitempty" doc:"what to do, where something is wrong"`
	// Details are for a report, and not shown.
	Details []string `json:"details,omitempty" doc:"of the check of providers: members of answers that nothing reads, and how often each was met since the daemon started"`
}
