//go:build faults

package config

// FaultVariables are the variables of fault tests. A release build refuses them like any
// unknown name.
var FaultVariables = []string{
	"SWAPKEEP_FAILPOINT", "SWAPKEEP_FAILPOINT_TRACE", "SWAPKEEP_FAILPOINT_FIGURES", "SWAPKEEP_FAILPOINT_DEATHS",
	"SWAPKEEP_CLOCK_SHIFT", "SWAPKEEP_CLOCK_PACE", "SWAPKEEP_ROOT", "SWAPKEEP_CHEAP_KDF",
}

func init() {
	for _, name := range FaultVariables {
		reservedVariables[name] = true
	}
}
