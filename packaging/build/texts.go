package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A managerFile is a file for another package manager, with this release's names and sums.
type managerFile struct{ from, to string }

var managers = []managerFile{
	{"homebrew/swapkeep.rb", "homebrew/swapkeep.rb"},
	{"winget/version.yaml", "winget/Swapkeep.Swapkeep.yaml"},
	{"winget/installer.yaml", "winget/Swapkeep.Swapkeep.installer.yaml"},
	{"winget/locale.yaml", "winget/Swapkeep.Swapkeep.locale.en-US.yaml"},
}

// texts fills in the templates, which ask for a package by platform and kind.
func (r *release) texts() error {
	for _, m := range managers {
		if err := r.fill(filepath.Join(r.out, m.to), m.from, r); err != nil {
			return err
		}
	}
	return nil
}

// Sum returns the SHA-256 of a finished package.
func (r *release) Sum(platform, extension string) (string, error) {
	return sumOf(filepath.Join(r.out, r.File(platform, extension)))
}

// File returns the name of a finished package.
func (r *release) File(platform, extension string) string {
	switch {
	case extension == "msi", extension == "exe":
		extension = r.signer.unsignedMark() + extension
	case strings.HasSuffix(platform, macTree):
		extension = signer{}.unsignedMark() + extension // Apple's signature needs a Mac
	}
	return r.name(platform, extension)
}

// A brew is a block of a Homebrew formula with its nested blocks.
type brew struct {
	Block  string
	Halves []brewHalf
}

type brewHalf struct{ Block, Platform string }

// Brews returns the systems that Homebrew supports.
func (r *release) Brews() []brew {
	return []brew{
		{"on_macos", []brewHalf{{"on_arm", "darwin-arm64"}, {"on_intel", "darwin-amd64"}}},
		{"on_linux", []brewHalf{{"on_arm", "linux-arm64"}, {"on_intel", "linux-amd64"}}},
	}
}

// MSIs returns the scopes that have an MSI.
func (r *release) MSIs() []msi { return msis }

// Product returns the MSI's product code.
func (r *release) Product(install string) string {
	return stableID("product", r.Version, "windows-amd64", install)
}

func sumOf(path string) (string, error) {
	file, err := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(file)), err
}
