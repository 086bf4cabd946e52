package installer_test

import (
	"errors"
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// Something that appeared after the plan was made is not replaced without consent.
func TestWhatCameMeanwhile(t *testing.T) {
	for name, before := range map[string]string{"a file where there was none": "", "in another's place": `{"path":"/opt/other/swapkeep"}`} {
		t.Run(name, func(t *testing.T) {
			b := newBench("linux", manifest.User)
			if before != "" {
				b.files.File(chromeManifest, before)
			}
			p := b.plan(t, b.options(manifest.User))
			p.Force = true
			b.files.File(chromeManifest, "came meanwhile")
			var stopped *installer.Stopped
			_, err := installer.Apply(t.Context(), b.Machine, p)
			if !errors.Is(err, installer.ErrForeign) || !errors.As(err, &stopped) || !strings.Contains(err.Error(), chromeManifest) {
				t.Errorf("error %v", err)
			}
			if text, err := b.files.ReadFile(chromeManifest); err != nil || string(text) != "came meanwhile" {
				t.Errorf("%s is %q, %v; want the file that another program wrote, unchanged", chromeManifest, text, err)
			}
			if r := b.uninstall(t, manifest.User); len(r.Kept) != 1 || r.Kept[0].Path != chromeManifest {
				t.Errorf("kept: %+v", r.Kept)
			}
		})
	}
}
