package doctor

import (
	"context"
	"slices"
	"strings"

	"swapkeep/manifest"
)

var configurationChecks = []check{
	{"config", "the configuration can be read", nil, configuration},
	{"environment", "browsers see the same instance", nil, variables},
	{"extensions.known", "an extension may use the host", nil, known},
}

func configuration(_ context.Context, p *Env) []Finding {
	if p.Config != nil {
		return []Finding{fail(oneLine(p.Config), "fix it; until then neither browsers nor commands work")}
	}
	return []Finding{ok("it can be read")}
}

// variables checks for variables that select another instance than browsers use.
func variables(_ context.Context, p *Env) []Finding {
	if p.Machine.Sudo {
		return []Finding{warn("this checks root's browsers, not yours", "run it without sudo")}
	}
	var names []string
	for _, entry := range p.Environ {
		name, value, _ := strings.Cut(entry, "=")
		if selectsInstance(name) && value != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return []Finding{ok("no environment variable here is unknown to browsers")}
	}
	slices.Sort(names)
	return []Finding{note("variables set only in this terminal may make browsers use another instance: " + strings.Join(names, ", ")).
		withRemedy("set it in the configuration file or in your session's environment")}
}

// letIn is the remedy if no extension is known: without one an installation is refused.
const letIn = "swapkeep install --extension-id ID, with the id that the extension's popup shows"

func known(_ context.Context, p *Env) (out []Finding) {
	if p.Config != nil {
		return []Finding{skipped("cannot read the configuration")}
	}
	var good []string
	for _, f := range manifest.Families() {
		if n := len(p.Allowed[f]); n > 0 {
			good = append(good, plural(n, "extension")+" of "+string(f))
		}
	}
	if p.noneAllowed() {
		return []Finding{warn("no extension is allowed yet", letIn)}
	}
	return []Finding{ok(strings.Join(good, ", "))}
}

// noneAllowed reports whether no extension may use swapkeep.
func (p *Env) noneAllowed() bool {
	return !slices.ContainsFunc(manifest.Families(), func(f manifest.Family) bool { return len(p.Allowed[f]) > 0 })
}
