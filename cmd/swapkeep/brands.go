package main

import (
	"fmt"
	"slices"
	"strings"
)

// brands are the names under which people know the service behind each kind of provider.
// A vendor that connects other services changes this table. Commands accept kinds and
// brands; the first brand of a kind is the one that is shown.
var brands = []struct{ kind, name string }{
	{"dex", "Uniswap"}, {"bridge", "Relay"}, {"intent", "Hyperstream"}, {"intent", "Khalani"}, {"gasless", "Bebop"},
}

// providerKind returns the kind of the provider that is called name.
func providerKind(name string) (string, error) {
	for _, b := range brands {
		if strings.EqualFold(name, b.kind) || strings.EqualFold(name, b.name) {
			return b.kind, nil
		}
	}
	return "", usageError{fmt.Errorf("unknown provider %q; use dex, bridge, intent or gasless", name)}
}

// providerKinds is providerKind for several names, without duplicates.
func providerKinds(names []string) (kinds []string, err error) {
	for _, name := range names {
		kind, err := providerKind(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// brandOf returns the brand of a kind, or the kind.
func brandOf(kind string) string {
	for _, b := range brands {
		if b.kind == kind {
			return b.name
		}
	}
	return kind
}

// keyOwner is providerKind, and for sources of prices their name.
func keyOwner(name string) (string, error) {
	if name == "coingecko" || name == "hosted" {
		return name, nil
	}
	kind, err := providerKind(name)
	if err != nil {
		err = fmt.Errorf("%w; for prices use coingecko or hosted", err)
	}
	return kind, err
}
