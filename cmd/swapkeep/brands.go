package main

import (
	"fmt"
	"slices"
	"strings"

	"swapkeep/extension/messages"
)

// providerKind returns the kind of the provider that is called name: a kind or a brand.
func providerKind(name string) (string, error) {
	if kind := strings.ToLower(name); messages.Brand(kind) != kind {
		return kind, nil
	}
	if kind := messages.KindOf(name); kind != "" {
		return kind, nil
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
