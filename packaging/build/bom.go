package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A bill is a CycloneDX 1.6 bill of materials: the components of the packages, with name
// and version, and which program contains which. Only the needed members are here.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Kind       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`

	module string // path of the Go module as required in go.mod
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"` // hexadecimal
}

type license struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// A product is a program, or the extension, with its components.
type product struct {
	component
	parts []component
}

// bom writes the bill of materials of the programs as built, and of the extension of the
// same version.
func (r *release) bom() error {
	var products []product
	for _, t := range targets {
		for _, command := range t.commands {
			p, err := productOf(r.program(t, command), command, t)
			if err != nil {
				return err
			}
			products = append(products, p)
		}
	}
	if err := r.license(products); err != nil {
		return err
	}
	extension, err := extensionProduct("extension/package-lock.json")
	if err != nil {
		return err
	}
	text, err := billOf(r.Version, r.Time, append(products, extension))
	if err != nil {
		return err
	}
	return r.write(filepath.Join(r.out, "swapkeep-"+r.Version+".cdx.json"), text)
}

// billOf returns the document. The same products give the same bytes.
func billOf(version string, at time.Time, products []product) ([]byte, error) {
	whole := component{Kind: "application", Ref: "swapkeep", Name: "swapkeep", Version: version, Licenses: apache}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{at.UTC().Format(time.RFC3339), whole}}
	parts := map[string]component{}
	top := dependency{Ref: whole.Ref}
	for _, p := range products {
		p.Version = version
		b.Components = append(b.Components, p.component)
		top.On = append(top.On, p.Ref)
		needs := dependency{Ref: p.Ref}
		for _, part := range p.parts {
			parts[part.Ref] = part
			needs.On = append(needs.On, part.Ref)
		}
		slices.Sort(needs.On)
		needs.On = slices.Compact(needs.On) // the format requires unique entries
		b.Dependencies = append(b.Dependencies, needs)
	}
	b.Dependencies = slices.Insert(b.Dependencies, 0, top)
	for _, ref := range slices.Sorted(maps.Keys(parts)) {
		b.Components = append(b.Components, parts[ref])
		b.Dependencies = append(b.Dependencies, dependency{Ref: ref})
	}
	unnamed, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	b.Serial = "urn:uuid:" + strings.ToLower(stableID("bom", string(unnamed)))
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(b)
	return text.Bytes(), err
}

var apache = []license{{"Apache-2.0"}}
