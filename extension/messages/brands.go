package messages

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// brandsJSON holds the names under which people know the service behind each kind of
// provider, the name that is shown first. A vendor that connects other services changes it.
//
//go:embed brands.json
var brandsJSON []byte

var brands = parseBrands()

func parseBrands() (byKind map[string][]string) {
	if err := json.Unmarshal(brandsJSON, &byKind); err != nil {
		panic(fmt.Sprintf("messages/brands.json: %v", err))
	}
	return byKind
}

// Brand returns the brand of a kind of provider, or the kind if it has none.
func Brand(kind string) string {
	if names := brands[kind]; len(names) > 0 {
		return names[0]
	}
	return kind
}

// KindOf returns the kind of provider with this brand, in any case; "" if there is none.
func KindOf(brand string) string {
	for kind, names := range brands {
		for _, name := range names {
			if strings.EqualFold(name, brand) {
				return kind
			}
		}
	}
	return ""
}
