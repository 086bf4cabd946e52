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
	Online bool `json:"online,omitempty" doc:"also asks every network for its latest block, and every RPC host for what swaps need of it"`
}

// Diagnosis is the result of the daemon's self-check.
type Diagnosis struct {
	Version string  `json:"version" doc:"product version"`
	Checks  []Check `json:"checks"`
}

// A Check is the result of one check.
type Check struct {
	ID       string        `json:"id" doc:"such as keychain"`
	Status   string        `json:"status" of:"CheckStatus" doc:"ok, note, warn, fail or skipped"`
	Evidence string        `json:"evidence" doc:"what was seen"`
	Remedy   string        `json:"remedy,omitempty" doc:"what to do, where something is wrong"`
	Hosts    []HostFinding `json:"hosts,omitempty" doc:"of the check networks.hosts: what RPC hosts lack"`
	// Details go into a report and are not displayed.
	Details []string `json:"details,omitempty" doc:"of the check of providers: members of answers that nothing reads, and how often each was met since the daemon started"`
}

// What an RPC host may lack. Without logs nothing that a provider settles can be proven there.
const (
	HostSilent     = "silent"      // it does not answer
	HostWrongChain = "wrong_chain" // it serves another chain
	HostOldBlock   = "old_block"   // its latest block is not of now
	HostNoLogs     = "no_logs"     // it refuses eth_getLogs
	HostFewLogs    = "few_logs"    // it refuses eth_getLogs over enough blocks
	HostNotFinal   = "not_final"   // it shows no final block, on a network that goes by that
	HostNoReceipts = "no_receipts" // it refuses eth_getBlockReceipts, where receipts can be recomputed
	HostNoSimulate = "no_simulate" // it has no eth_simulateV1, or does not show what moves
)

// A HostFinding is what one RPC host of a network lacks.
type HostFinding struct {
	ChainID uint64 `json:"chainId"`
	Network string `json:"network" doc:"its name"`
	Host    string `json:"host" doc:"never the path, which may be an access key"`
	Problem string `json:"problem" of:"HostProblem"`
	Status  string `json:"status" of:"CheckStatus" doc:"fail where the network's other hosts do not make up for it"`
}
