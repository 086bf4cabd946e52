package main

import (
	"crypto/sha1"
	"fmt"
	"path/filepath"
	"strings"

	"swapkeep/manifest"
)

// windowsProgram is the program's path relative to the manifests, because an installer
// cannot write its directory into a JSON file. Both families accept that on Windows.
const windowsProgram = `bin\swapkeep.exe`

// An msi is one scope of the installer: who it is for and where it installs.
type msi struct {
	Scope       manifest.Scope
	Install     string // WiX's name of the scope
	Winget      string // winget's name of the scope
	Hive        string
	Folder      string // the standard directory
	UpgradeCode string // never changes: Windows recognizes older versions by it
}

var msis = []msi{
	{manifest.User, "perUser", "user", "HKCU", "LocalAppDataFolder", "8C3B1F0E-5D0A-4C0B-9E55-2B6C9E0A7D11"},
	{manifest.System, "perMachine", "machine", "HKLM", "ProgramFiles64Folder", "8C3B1F0E-5D0A-4C0B-9E55-2B6C9E0A7D12"},
}

// An installer is the data for the templates of the Windows packages.
type installer struct {
	*release
	msi
	Target      target
	Files       string // directory of the files to install
	Below       string // the same relative to the templates, because wixl accepts no absolute path
	ProductCode string
	Families    []manifest.Family
	Hosts       []host
	Out         string
	SignScript  string // signs the uninstaller that NSIS writes; empty without a certificate
}

// windows makes an MSI for a user, one for the machine, and a setup program for a user.
func (r *release) windows() error {
	for _, t := range targets {
		if t.OS != "windows" {
			continue
		}
		for _, m := range msis {
			i, err := r.installer(t, m)
			if err != nil {
				return err
			}
			if err := i.makeMSI(); err != nil {
				return err
			}
			if m.Scope == manifest.User {
				if err := i.makeSetup(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// installer collects what is installed.
func (r *release) installer(t target, m msi) (installer, error) {
	i := installer{release: r, msi: m, Target: t, Files: filepath.Join(r.work, t.String()+"-"+string(m.Scope))}
	i.Below = filepath.Base(i.Files)
	i.ProductCode = r.Product(m.Install)
	var err error
	if i.Hosts, err = r.hosts(t.OS, t.String()+"-"+string(m.Scope), windowsProgram, m.Scope); err != nil {
		return i, err
	}
	files := map[string]string{"LICENSE.txt": "LICENSE", "NOTICE.txt": "NOTICE"}
	for _, command := range t.commands {
		files["bin/"+command+".exe"] = r.program(t, command)
	}
	for _, family := range manifest.Families() {
		for _, h := range i.Hosts {
			if h.Family == family {
				files[h.File()] = h.Source
			}
		}
		if len(r.IDs[family]) > 0 {
			i.Families = append(i.Families, family)
		}
	}
	for to, from := range files {
		if err := r.copy(filepath.Join(i.Files, to), from); err != nil {
			return i, err
		}
	}
	return i, nil
}

// File returns the manifest's file name on Windows.
func (h host) File() string { return manifest.WindowsFileName(h.Family) }

// Parents returns the parent keys of the host's key, innermost first, up to those that
// Windows itself has.
func (h host) Parents() (keys []string) {
	for key := h.Key; ; keys = append(keys, key) {
		key = key[:strings.LastIndex(key, `\`)]
		if key == "Software" || key == `Software\Microsoft` {
			return keys
		}
	}
}

// Programs returns the file names of the installed programs.
func (i installer) Programs() (names []string) {
	for _, command := range i.Target.commands {
		names = append(names, command+".exe")
	}
	return names
}

// Impersonate returns WiX's value for whether actions run with the user's rights only.
func (m msi) Impersonate() string {
	if m.Scope == manifest.User {
		return "yes"
	}
	return "no"
}

// HostFile returns the manifest's file name for a family.
func (i installer) HostFile(f manifest.Family) string { return manifest.WindowsFileName(f) }

func (i installer) makeMSI() error {
	source := i.Files + ".wxs"
	if err := i.fill(source, "windows/swapkeep.wxs", i); err != nil {
		return err
	}
	i.Out = filepath.Join(i.out, i.File(i.Target.String()+"-"+string(i.Scope), "msi"))
	if err := i.run(nil, "wixl", "-a", "x64", "-o", i.Out, source); err != nil {
		return err
	}
	if err := settle(i.Out, i.Time); err != nil {
		return err
	}
	return i.sign(i.Out)
}

func (i installer) makeSetup() error {
	i.Out = filepath.Join(i.out, i.File(i.Target.String()+"-setup", "exe"))
	source := i.Files + ".nsi"
	if i.signer.cert != "" {
		i.SignScript = i.Files + "-sign.sh"
		if err := i.write(i.SignScript, i.signScript()); err != nil {
			return err
		}
	}
	if err := i.fill(source, "windows/setup.nsi", i); err != nil {
		return err
	}
	if err := i.run(nil, "makensis", "-V2", "-WX", source); err != nil {
		return err
	}
	return i.sign(i.Out)
}

// stableID returns a UUID that is determined by the words (RFC 9562, version 5).
func stableID(words ...string) string {
	sum := sha1.New() // required by the standard; not used for security
	_, _ = sum.Write([]byte("swapkeep.invalid"))
	for _, w := range words {
		_, _ = fmt.Fprintf(sum, "\x00%s", w)
	}
	b := sum.Sum(nil)[:16]
	b[6], b[8] = b[6]&0x0f|0x50, b[8]&0x3f|0x80
	return fmt.Sprintf("%X-%X-%X-%X-%X", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
