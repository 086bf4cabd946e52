//go:build !faults

package main

import "swapkeep/installer"

// thisMachine is where a fault test may lay another system around the program.
func thisMachine() installer.Machine { return installer.This() }
