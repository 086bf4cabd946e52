package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"swapkeep/manifest"
)

var policyChecks = []check{
	{"policy", "no enterprise policy forbids the host", nil, policies},
}

// A policy is an administrator's policy for native messaging; nil means unset. Both
// families use the same three keys.
type policy struct {
	Blocklist []string `json:"NativeMessagingBlocklist"`
	Allowlist []string `json:"NativeMessagingAllowlist"`
	UserLevel *bool    `json:"NativeMessagingUserLevelHosts"`
}

// A policyPlace says where a browser's policies are.
type policyPlace struct {
	files  []string // Linux: file patterns
	copies []string // Linux: file patterns in single copies of the browser, read if no file matches files
	domain string   // macOS: domain of managed preferences
	key    string   // Windows: below Software\Policies
}

const mozillaPolicies = "/etc/firefox/policies/policies.json"

var policyPlaces = map[string]policyPlace{
	"chrome":             {[]string{"/etc/opt/chrome/policies/managed/*.json"}, nil, "com.google.Chrome", `Google\Chrome`},
	"chrome-for-testing": {[]string{"/etc/opt/chrome_for_testing/policies/managed/*.json"}, nil, "com.google.chrome.for.testing", `Google\Chrome for Testing`},
	"chromium":           {[]string{"/etc/chromium/policies/managed/*.json"}, nil, "org.chromium.Chromium", `Chromium`},
	"ungoogled-chromium": {[]string{"/etc/chromium/policies/managed/*.json"}, nil, "org.chromium.Chromium", `Chromium`},
	"brave":              {[]string{"/etc/brave/policies/managed/*.json"}, nil, "com.brave.Browser", `BraveSoftware\Brave`},
	"edge":               {[]string{"/etc/opt/edge/policies/managed/*.json"}, nil, "com.microsoft.Edge", `Microsoft\Edge`},
	"firefox": {[]string{mozillaPolicies},
		[]string{"/usr/lib*/firefox/distribution/policies.json", "/usr/lib*/firefox-[bdn]*/distribution/policies.json", "/opt/firefox*/distribution/policies.json"},
		"org.mozilla.firefox", `Mozilla\Firefox`},
	"firefox-esr": {[]string{mozillaPolicies}, []string{"/usr/lib*/firefox-esr/distribution/policies.json"}, "org.mozilla.firefox", `Mozilla\Firefox`},
}

// rulingOf returns where a browser's policies are, if known. Sandboxed browsers have
// other places, but the snap of Firefox sees the system's.
func rulingOf(b browser) (policyPlace, bool) {
	if b.Box != "" {
		return policyPlace{files: []string{mozillaPolicies}}, b.Box == manifest.Snap && b.Family == manifest.Firefox
	}
	at, known := policyPlaces[b.Browser]
	return at, known
}

// A source is a file or key with a policy.
type source struct {
	policy
	where string
}

// rules are the effective policy of all sources.
type rules struct {
	policy
	blocks  string // source of the blocklist
	forbids string // source of the setting for user-level hosts
}

// merged merges sources, weakest first: for each key the last source that sets it wins as
// a whole.
func merged(sources []source) (r rules) {
	for _, s := range sources {
		if s.Blocklist != nil {
			r.Blocklist, r.blocks = s.Blocklist, s.where
		}
		if s.Allowlist != nil {
			r.Allowlist = s.Allowlist
		}
		if s.UserLevel != nil {
			r.UserLevel, r.forbids = s.UserLevel, s.where
		}
	}
	return r
}

const askAdministrator = "ask your administrator to allow "

func policies(ctx context.Context, p *Env) (out []Finding) {
	var looked, unknown []string
	for _, b := range p.facts.browsers {
		at, known := rulingOf(b)
		if !known {
			unknown = append(unknown, b.title())
			continue
		}
		looked = append(looked, b.title())
		all, unread := p.rules(ctx, at, b)
		for _, file := range unread {
			out = append(out, note(file+" cannot be read").of(b.title()))
		}
		for _, r := range all {
			if f, bad := r.against(b); bad {
				out = append(out, f.of(b.title()))
			}
		}
	}
	if len(looked) > 0 {
		out = orOK(mergeSame(out), ok(fmt.Sprintf("looked at those of %s: %s", plural(len(looked), "browser"), strings.Join(looked, ", "))))
	}
	if len(unknown) > 0 {
		out = append(out, skipped("unknown where their policies are").of(strings.Join(unknown, ", ")))
	}
	return orOK(out, skipped("no browser was found"))
}

// against returns a finding if policies keep a browser from starting the host.
func (r rules) against(b browser) (Finding, bool) {
	blocked := slices.Contains(r.Blocklist, "*") || slices.Contains(r.Blocklist, manifest.HostName)
	first, any := b.first()
	switch {
	case blocked && !slices.Contains(r.Allowlist, manifest.HostName):
		return fail(r.blocks+" blocks it (NativeMessagingBlocklist)", askAdministrator+manifest.HostName+" (NativeMessagingAllowlist)"), true
	case r.UserLevel != nil && !*r.UserLevel && any && first.place.Scope == manifest.User:
		return fail(r.forbids+" forbids hosts installed by a user (NativeMessagingUserLevelHosts)", "sudo swapkeep install --system, or "+askAdministrator+"user-level hosts"), true
	}
	return Finding{}, false
}

// rules returns the effective policies of a browser, one for each copy that has its own
// file, and the files that cannot be read.
func (p *Env) rules(ctx context.Context, at policyPlace, b browser) (out []rules, unread []string) {
	common, unread := p.sources(ctx, at, b.Family)
	files := p.distributions(b)
	if p.Machine.OS == "linux" && len(common)+len(unread) == 0 { // otherwise those of single copies are not read
		files = p.matching(at.copies)
	}
	single, more := p.ruleFiles(files, b.Family)
	for _, s := range single {
		out = append(out, merged(append([]source{s}, common...)))
	}
	if len(out) == 0 {
		out = []rules{merged(common)}
	}
	return out, append(unread, more...)
}

// sources returns the sources that apply to every copy of a browser.
func (p *Env) sources(ctx context.Context, at policyPlace, f manifest.Family) ([]source, []string) {
	switch p.Machine.OS {
	case "windows":
		return p.rulesByKey(at.key), nil
	case "darwin":
		return p.managed(ctx, at.domain), nil
	}
	return p.ruleFiles(p.matching(at.files), f) // sorted: the last of Chromium's files wins
}

// distribution is the path of the policies in a copy of Firefox, below its directory.
var distribution = map[string]string{"windows": "distribution/policies.json", "darwin": "Contents/Resources/distribution/policies.json"}

// distributions returns the policy files of the copies of Firefox in known directories.
func (p *Env) distributions(b browser) (out []string) {
	below, has := distribution[p.Machine.OS]
	if b.Family != manifest.Firefox || !has {
		return nil
	}
	for _, place := range b.places {
		for _, dir := range place.Footprints(p.environment()) {
			file := p.under(dir, below)
			if _, err := p.Machine.Files.Stat(file); err == nil && !slices.Contains(out, file) {
				out = append(out, file)
			}
		}
	}
	return out
}

// matching returns the files that match patterns.
func (p *Env) matching(patterns []string) (out []string) {
	for _, pattern := range patterns {
		out = append(out, p.glob("", strings.TrimPrefix(pattern, "/"))...)
	}
	return out
}

func (p *Env) ruleFiles(files []string, f manifest.Family) (out []source, unread []string) {
	for _, file := range files {
		text, err := p.small(file)
		rule, parsed := parsePolicy(text, f)
		if err != nil || !parsed {
			unread = append(unread, file)
			continue
		}
		out = append(out, source{rule, file})
	}
	return out, unread
}

// parsePolicy parses a policy file; Firefox nests the policies one level deeper.
func parsePolicy(text []byte, f manifest.Family) (out policy, ok bool) {
	if f == manifest.Firefox {
		var file struct {
			Policies policy `json:"policies"`
		}
		err := json.Unmarshal(text, &file)
		return file.Policies, err == nil
	}
	err := json.Unmarshal(text, &out)
	return out, err == nil
}

// managed returns the managed preferences of macOS, of the machine and of this user.
func (p *Env) managed(ctx context.Context, domain string) (out []source) {
	for _, folder := range []string{"", path.Base(p.Machine.Home) + "/"} {
		file := "/Library/Managed Preferences/" + folder + domain + ".plist"
		if _, err := p.Machine.Files.Stat(file); err != nil {
			continue
		}
		text, err := ask(ctx, "plutil", "-convert", "json", "-o", "-", file)
		if rule, parsed := parsePolicy([]byte(text), manifest.Chromium); err == nil && parsed {
			out = append(out, source{rule, file})
		}
	}
	return out
}

// rulesByKey returns the user's policies and then the machine's, which win.
func (p *Env) rulesByKey(below string) (out []source) {
	for _, hive := range []string{"HKCU", "HKLM"} {
		key := hive + `\Software\Policies\` + below
		s := source{where: key, policy: policy{Blocklist: p.listIn(key + `\NativeMessagingBlocklist`), Allowlist: p.listIn(key + `\NativeMessagingAllowlist`)}}
		if n, is := p.number(key, "NativeMessagingUserLevelHosts"); is {
			yes := n != 0
			s.UserLevel = &yes
		}
		out = append(out, s)
	}
	return out
}

// maxListed is the highest number read from a list in the registry.
const maxListed = 100

// listIn returns the values of a key, which are named by numbers from 1, possibly with
// gaps. nil means that the key does not exist.
func (p *Env) listIn(key string) []string {
	if p.Machine.Registry == nil {
		return nil
	}
	if is, err := p.Machine.Registry.Exists(key); err != nil || !is {
		return nil
	}
	out := []string{}
	for i := 1; i <= maxListed; i++ {
		if text, is, err := p.Machine.Registry.Value(key, strconv.Itoa(i)); err == nil && is {
			out = append(out, strings.TrimSpace(text))
		}
	}
	return out
}

// number reads a number from the registry; false if it is not set or cannot be read.
func (p *Env) number(key, name string) (uint64, bool) {
	if p.Machine.Registry == nil {
		return 0, false
	}
	n, is, err := p.Machine.Registry.Number(key, name)
	return n, is && err == nil
}
