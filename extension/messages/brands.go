package messages

import (
	"strings"
	"sync"
)

// brands has the names under which people know the service behind each kind of provider, the
// name that is shown first. A vendor that connects other services changes it.
var brands = sync.OnceValue(func() map[string][]string { return parse[map[string][]string]("brands.json") })

// Brand returns the brand of a kind of provider, or the kind if it has none.
func Brand(kind string) string {
	if names := brands()[kind]; len(names) > 0 {
		return names[0]
	}
	return kind
}

// KindOf returns the kind of provider with this brand, in any case; "" if there is none.
func KindOf(brand string) string {
	for kind, names := range brands() {
		for _, name := range names {
			if strings.EqualFold(name, brand) {
				return kind
			}
		}
	}
	return ""
}
