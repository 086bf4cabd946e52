//go:build !faults

package config

// revives: a release never treats an ended network as running, not even in a sandbox.
const revives = false
