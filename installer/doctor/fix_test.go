package doctor

import (
	"context"
	"errors"
	"testing"
)

// A remedy that changed nothing has mended nothing, unless an earlier one did it for it.
func TestFixSaysMendedOfWhatItMended(t *testing.T) {
	says := func(did string, err error) remedy {
		return func(context.Context) (string, error) { return did, err }
	}
	nothing, install := fail("1", "").mendedBy(says("", errInPlace)), fail("2", "").mendedBy(says(didInstall+" (1 change)", nil))
	for name, row := range map[string]struct {
		found []Finding
		want  int // of the last
	}{
		"nothing to do":             {[]Finding{nothing}, 0},
		"after another remedy":      {[]Finding{fail("0", "").mendedBy(says("chmod 0755 /x", nil)), nothing}, 0},
		"after an installation":     {[]Finding{install, nothing}, 1},
		"after one that was futile": {[]Finding{nothing, nothing}, 0},
		"failed":                    {[]Finding{install, fail("3", "").mendedBy(says("", errors.New("no")))}, 0},
	} {
		out := Fix(t.Context(), row.found)
		last := out[len(out)-1]
		if (last.Fixed != "") != (row.want == 1) || (last.Unfixed != "") == (row.want == 1) {
			t.Errorf("%s: done %q, not done %q", name, last.Fixed, last.Unfixed)
		}
	}
}
