package doctor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// signTime limits the check of signatures. PowerShell alone takes seconds to start.
const signTime = 6 * time.Second

const fromATrusted = "do not use it; reinstall from a package that you trust"

// signatures checks the signatures of the hosts and the daemons next to them.
func signatures(ctx context.Context, p *Env) []Finding {
	var files []string
	for _, program := range p.programs() {
		for _, file := range []string{program, p.daemonOf(program)} {
			if _, err := p.Machine.Files.Stat(file); err == nil && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	if len(files) == 0 {
		return []Finding{skipped("no manifest names an existing program")}
	}
	ctx, cancel := context.WithTimeout(ctx, signTime)
	defer cancel()
	look := codesigned
	if p.Machine.OS == "windows" {
		look = authenticode
	}
	return orOK(look(ctx, p, files), ok(strings.Join(files, ", ")))
}

// verdicts are the findings for the status that Windows reports for an invalid signature.
var verdicts = map[string]Finding{
	"NotSigned":    note("is not signed"),
	"HashMismatch": fail("was changed after it was signed", fromATrusted),
	"NotTrusted":   warn("is signed by somebody whom this machine does not trust", "check who signed it, in its properties"),
}

// authenticode checks all files with one command. The paths, which may come from
// anybody's manifest, are not part of the command line.
func authenticode(ctx context.Context, p *Env, files []string) (out []Finding) {
	const variable = "SWAPKEEP_FILES"
	const command = "$env:" + variable + " -split '\\|' | ForEach-Object { (Get-AuthenticodeSignature -LiteralPath $_).Status }"
	env := append(slices.Clone(p.Environ), variable+"="+strings.Join(files, "|"))
	output, err := askWithin(ctx, signTime, env, "powershell.exe", "-NoProfile", "-NonInteractive", "-Command", command)
	statuses := strings.Fields(output)
	switch {
	case err != nil:
		return []Finding{skipped("cannot query PowerShell: " + oneLine(err))}
	case len(statuses) != len(files):
		return []Finding{skipped("PowerShell gives no answer for every program")}
	}
	for i, status := range statuses {
		if status == "Valid" {
			continue
		}
		f, known := verdicts[status]
		if !known {
			f = warn("its signature is invalid: "+shown(status), "check it in its properties, Digital Signatures")
		}
		out = append(out, f.of(files[i]))
	}
	return out
}

// codesigned checks files on macOS, which does not start a program that was changed after
// it was signed. The output begins with the path, which may contain anything, so that the
// path is removed before the output is examined.
func codesigned(ctx context.Context, _ *Env, files []string) (out []Finding) {
	for _, file := range files {
		_, err := askWithin(ctx, signTime, nil, "codesign", "--verify", "--strict", file)
		var refused *exec.ExitError
		words := strings.ReplaceAll(fullStderr(err), file+": ", "")
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil, !errors.As(err, &refused):
			out = append(out, skipped("cannot run codesign: "+oneLine(err)).of(file))
		case strings.Contains(words, "modified"), strings.Contains(words, "invalid"):
			out = append(out, fail("was changed after it was signed: "+shown(words), fromATrusted).of(file))
		default:
			out = append(out, warn("is not signed as macOS requires: "+shown(words), "install a signed package, or allow it under Privacy & Security in the settings").of(file))
		}
	}
	return out
}

// fullStderr returns a failed program's whole standard error, in one line.
func fullStderr(err error) string {
	var failure *toolError
	if errors.As(err, &failure) {
		return strings.ReplaceAll(failure.stderr, "\n", "; ")
	}
	return fmt.Sprint(err)
}
