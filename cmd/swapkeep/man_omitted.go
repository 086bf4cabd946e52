//go:build !man

package main

import "github.com/spf13/cobra"

// addManual adds nothing: cobra's generator of manual pages would cost each start of the relay
// a millisecond or more. Only the build with the tag man has the command.
func addManual(*cobra.Command) {}
