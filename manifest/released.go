package manifest

import "strings"

// Ids that whoever builds packages gives to the linker, with commas between:
//
//	-X swapkeep/manifest.chromiumIDs=… -X swapkeep/manifest.firefoxIDs=…
var chromiumIDs, firefoxIDs string

// Released are the ids of the extension as stores publish it, by family: every build lets
// these in. None is published yet, and before a store has given us an id it could be
// anybody's. An extension whose id is not here says how to let it in by the configuration.
var Released = map[Family][]string{Chromium: listed(chromiumIDs), Firefox: listed(firefoxIDs)}

func listed(ids string) []string {
	return strings.FieldsFunc(ids, func(r rune) bool { return r == ',' })
}
