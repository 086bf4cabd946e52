package keys_test

import (
	"strings"
	"testing"

	"swapkeep/keys"
)

func TestPasswordStrength(t *testing.T) {
	for _, weak := range []string{
		"", "short", "ninechars", "password123", "P@ssw0rd1234", "1234567890", "12345678901234567890", "qwertyuiop",
		"qwertyuiop[]", "aaaaaaaaaaaaaaaa", "abcabcabcabcabc", "ababababababab", "letmein2024!", "Ethereum2025",
		"correcthorsebatterystaple", "ilovebitcoin", "Swapkeep2026!", "abcdefghijklmnop", "zyxwvutsrqpo", "MetaMask1!",
		"Summer2025!!", "passwordpassword", "11111111112", "          ", "\xff\xfe1234567890abcdef", strings.Repeat("Xy9%kq", 200),
	} {
		wantErr(t, weak, keys.CheckStrength([]byte(weak)), keys.ErrWeakPassword)
	}
	for _, strong := range []string{
		"seven purple llamas dance", "correct horse battery staple", "kV9#qLw2$xT", "tr7Wq-pl0Mz-x4", "mein Hund bellt selten nachts",
		"вода течёт вниз", "gute-nacht-mein-schaf-41", "q8dk2mz7vbn3hs",
	} {
		if err := keys.CheckStrength([]byte(strong)); err != nil {
			t.Errorf("%s: %v (%.0f bits)", strong, err, keys.Strength([]byte(strong)))
		}
	}
}

func FuzzStrength(f *testing.F) {
	f.Add([]byte("seven purple llamas dance"))
	f.Add([]byte("\xff1!@"))
	f.Fuzz(func(t *testing.T, password []byte) {
		if len(password) > 4096 {
			return
		}
		if bits := keys.Strength(password); bits < 0 || bits > 7*float64(len(password)) {
			t.Fatalf("%q: %f bits", password, bits)
		}
	})
}
