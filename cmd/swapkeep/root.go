//go:build !faults

package main

import "swapkeep/installer"

// thisMachine returns this machine. The faults build can replace its file system.
func thisMachine() installer.Machine { return installer.This() }
