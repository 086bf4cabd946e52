package doctor

import (
	"context"
	"strings"
)

// signed asks the system whether it trusts a program.
func signed(ctx context.Context, p *Patient, path string) (Finding, bool) {
	if p.Machine.OS == "darwin" {
		_, err := ask(ctx, "codesign", "--verify", "--strict", path)
		if missing(err) || err == nil {
			return Finding{}, false
		}
		return warn("is not signed, or was changed: "+oneLine(err), "install a signed package, or allow it under Privacy & Security in the settings"), true
	}
	said, err := ask(ctx, "powershell.exe", "-NoProfile", "-Command", "(Get-AuthenticodeSignature -LiteralPath '"+strings.ReplaceAll(path, "'", "''")+"').Status")
	if status := strings.TrimSpace(said); err == nil && status != "Valid" && status != "" {
		return note("signature: " + status), true
	}
	return Finding{}, false
}
