package manifest

import "strings"

// Extension ids that are set by the linker when packages are built, separated by commas:
//
//	-X swapkeep/manifest.chromiumIDs=… -X swapkeep/manifest.firefoxIDs=…
var chromiumIDs, firefoxIDs string

// Released are the ids of the extension as published in stores, by family; every build
// allows them. None is published yet, and before a store assigns an id it could be
// anybody's. An extension with another id tells its user how to allow it.
var Released = map[Family][]string{Chromium: listed(chromiumIDs), Firefox: listed(firefoxIDs)}

func listed(ids string) []string {
	return strings.FieldsFunc(ids, func(r rune) bool { return r == ',' })
}
