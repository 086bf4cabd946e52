package main

import (
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// A completion is a literal word of which a shell executes nothing, whatever a token is
// called.
func TestCompletedTokens(t *testing.T) {
	const address = "0x00000000000000000000000000000000000a11ce"
	for _, c := range []struct {
		symbol   string
		imitates protocol.Address
		word     string
	}{
		{"USDC", "", "USDC"}, {"USD₮0", "", "USD₮0"}, {"WETH.e", "", "WETH.e"}, {"UNI-V2", "", "UNI-V2"}, {"1INCH", "", "1INCH"},
		{"USDC", address, address},
		{"PE$(touch owned)", "", address}, {"PE$IFS", "", address}, {"PE`id`", "", address}, {"PE;reboot", "", address}, {"PE|sh", "", address},
		{"PE>x", "", address}, {"PE&", "", address}, {"P E", "", address}, {"P'E", "", address}, {`P"E`, "", address}, {`P\E`, "", address},
		{"P*", "", address}, {"P?", "", address}, {"~root", "", address}, {"#P", "", address}, {"!1", "", address}, {"{a,b}", "", address}, {"=ls", "", address},
		{"[P]", "", address}, {"--json", "", address}, {"-P", "", address}, {"", "", address}, {"P\tE", "", address},
	} {
		got, _, _ := strings.Cut(completedToken(protocol.Token{Symbol: c.symbol, Name: "Some token", Address: address, Imitates: c.imitates}), "\t")
		if got != c.word {
			t.Errorf("%q: offered %q, want %q", c.symbol, got, c.word)
		}
	}
}
