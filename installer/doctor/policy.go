package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"swapkeep/manifest"
)

var policyChecks = []check{
	{"policy", "no enterprise policy forbids the host", nil, policies},
}

// A policy is what an administrator says of native messaging. Both families use the
// same three keys.
type policy struct {
	Blocklist []string `json:"NativeMessagingBlocklist"`
	Allowlist []string `json:"NativeMessagingAllowlist"`
	UserLevel *bool    `json:"NativeMessagingUserLevelHosts"`
}

// A ruling is where a browser's policies are.
type ruling struct {
	files  []string // patterns; Linux
	domain string   // of managed preferences; macOS
	key    string   // below Software\Policies; Windows
}

var (
	mozillaPolicies = []string{"/etc/firefox/policies/policies.json", "/usr/lib/firefox*/distribution/policies.json", "/usr/lib64/firefox*/distribution/policies.json", "/opt/firefox/distribution/policies.json"}
	rulings         = map[string]ruling{
		"chrome":             {[]string{"/etc/opt/chrome/policies/managed/*.json"}, "com.google.Chrome", `Google\Chrome`},
		"chrome-for-testing": {[]string{"/etc/opt/chrome_for_testing/policies/managed/*.json"}, "com.google.chrome.for.testing", `Google\Chrome for Testing`},
		"chromium":           {[]string{"/etc/chromium/policies/managed/*.json"}, "org.chromium.Chromium", `Chromium`},
		"ungoogled-chromium": {[]string{"/etc/chromium/policies/managed/*.json"}, "org.chromium.Chromium", `Chromium`},
		"brave":              {[]string{"/etc/brave/policies/managed/*.json"}, "com.brave.Browser", `BraveSoftware\Brave`},
		"edge":               {[]string{"/etc/opt/edge/policies/managed/*.json"}, "com.microsoft.Edge", `Microsoft\Edge`},
		"firefox":            {mozillaPolicies, "org.mozilla.firefox", `Mozilla\Firefox`},
		"firefox-esr":        {mozillaPolicies, "org.mozilla.firefox", `Mozilla\Firefox`},
	}
)

// A ruled policy is one with the file or key that says it.
type ruled struct {
	policy
	where string
}

const askAdministrator = "ask your administrator to allow "

func policies(ctx context.Context, p *Patient) (out []Finding) {
	looked := 0
	for _, b := range p.seen.browsers {
		at, known := rulings[b.Browser]
		if !known {
			continue
		}
		looked++
		rules, unread := p.rules(ctx, at, b.Family)
		if unread != "" {
			out = append(out, note(unread).of(b.title()))
		}
		for _, r := range rules {
			if f, bad := r.against(b); bad {
				out = append(out, f.of(b.title()))
			}
		}
	}
	return unless(joined(out), ok(fmt.Sprintf("looked at those of %s", plural(looked, "browser"))))
}

// against is a finding where a policy keeps a browser from the host.
func (r ruled) against(b browser) (Finding, bool) {
	blocked := slices.Contains(r.Blocklist, "*") || slices.Contains(r.Blocklist, manifest.HostName)
	first, any := b.first()
	switch {
	case blocked && !slices.Contains(r.Allowlist, manifest.HostName):
		return fail(r.where+" blocks it (NativeMessagingBlocklist)", askAdministrator+manifest.HostName+" (NativeMessagingAllowlist)"), true
	case r.UserLevel != nil && !*r.UserLevel && any && first.place.Scope == manifest.User:
		return fail(r.where+" forbids hosts that a user installed (NativeMessagingUserLevelHosts)", "sudo swapkeep install --system, or "+askAdministrator+"user-level hosts"), true
	}
	return Finding{}, false
}

// rules are the policies of a browser, and why one cannot be read.
func (p *Patient) rules(ctx context.Context, at ruling, f manifest.Family) ([]ruled, string) {
	switch p.Machine.OS {
	case "windows":
		return p.rulesByKey(at.key), ""
	case "darwin":
		return p.managed(ctx, at.domain), ""
	}
	return p.ruleFiles(at.files, f)
}

func (p *Patient) ruleFiles(patterns []string, f manifest.Family) (out []ruled, unread string) {
	for _, pattern := range patterns {
		for _, file := range p.glob("", strings.TrimPrefix(pattern, "/")) {
			text, err := p.small(file)
			rule, parsed := parsePolicy(text, f)
			if err != nil || !parsed {
				unread = file + " cannot be read"
				continue
			}
			out = append(out, ruled{rule, file})
		}
	}
	return out, unread
}

// parsePolicy reads a file of policies; Firefox has them one level down.
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

// managed are the preferences that macOS keeps for administrators.
func (p *Patient) managed(ctx context.Context, domain string) (out []ruled) {
	for _, pattern := range []string{"/Library/Managed Preferences/" + domain + ".plist", "/Library/Managed Preferences/*/" + domain + ".plist"} {
		for _, file := range p.glob("", strings.TrimPrefix(pattern, "/")) {
			text, err := ask(ctx, "plutil", "-convert", "json", "-o", "-", file)
			if rule, parsed := parsePolicy([]byte(text), manifest.Chromium); err == nil && parsed {
				out = append(out, ruled{rule, file})
			}
		}
	}
	return out
}

// maxListed is how many entries of a list in the registry are looked at.
const maxListed = 100

func (p *Patient) rulesByKey(below string) (out []ruled) {
	for _, hive := range []string{"HKLM", "HKCU"} {
		key := hive + `\Software\Policies\` + below
		r := ruled{where: key, policy: policy{Blocklist: p.listIn(key + `\NativeMessagingBlocklist`), Allowlist: p.listIn(key + `\NativeMessagingAllowlist`)}}
		if n, is := p.number(key, "NativeMessagingUserLevelHosts"); is {
			yes := n != 0
			r.UserLevel = &yes
		}
		out = append(out, r)
	}
	return out
}

// listIn are the values 1, 2 and so on of a key.
func (p *Patient) listIn(key string) (out []string) {
	if p.Machine.Registry == nil {
		return nil
	}
	for i := 1; i <= maxListed; i++ {
		text, is, err := p.Machine.Registry.Value(key, strconv.Itoa(i))
		if err != nil || !is {
			break
		}
		out = append(out, strings.TrimSpace(text))
	}
	return out
}

// number reads a number in the registry.
func (p *Patient) number(key, name string) (uint64, bool) {
	if p.Machine.Registry == nil {
		return 0, false
	}
	n, is, err := p.Machine.Registry.Number(key, name)
	return n, is && err == nil
}
