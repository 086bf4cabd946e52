package manifest

// Released are the ids of the extension as stores publish it, by family: every build lets
// these in. None is published yet. An extension whose id is not here says how to let it
// in by the configuration.
var Released = map[Family][]string{Chromium: {}, Firefox: {}}
