//go:build faults

package config

// revives: fault tests run the sandbox's chains of ended networks, so that the providers'
// support there stays tested.
const revives = true
