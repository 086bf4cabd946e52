package relay

import (
	"errors"
	"strings"
	"testing"

	"swapkeep/manifest"
)

var (
	chromiumID = strings.Repeat("abcdefghijklmnop", 2)
	firefoxID  = "swapkeep-test@swapkeep.invalid"
)

func TestCallerOf(t *testing.T) {
	path := "/home/u/.mozilla/native-messaging-hosts/" + manifest.FileName
	uuid := "{0123abcd-0123-4567-89ab-0123456789ab}"
	tests := []struct {
		args   []string
		origin string
		err    error
	}{
		{[]string{"chrome-extension://" + chromiumID + "/"}, "chrome-extension://" + chromiumID + "/", nil},
		{[]string{"chrome-extension://" + chromiumID + "/", "--parent-window=0"}, "chrome-extension://" + chromiumID + "/", nil},
		{[]string{"chrome-extension://" + chromiumID + "/", "--from-the-future", "x"}, "chrome-extension://" + chromiumID + "/", nil},
		{[]string{path, firefoxID}, firefoxID, nil},
		{[]string{path, uuid, "--new"}, uuid, nil},
		{[]string{"/x/" + manifest.WindowsFileName(manifest.Firefox), firefoxID}, firefoxID, nil},
		{[]string{"chrome-extension://" + chromiumID}, "", ErrOriginRefused},
		{[]string{"chrome-extension://" + chromiumID + "//"}, "", ErrOriginRefused},
		{[]string{"chrome-extension://" + strings.ToUpper(chromiumID) + "/"}, "", ErrOriginRefused},
		{[]string{"chrome-extension://*/"}, "", ErrOriginRefused},
		{[]string{"chrome-extension://" + chromiumID + "/popup.html"}, "", ErrOriginRefused},
		{[]string{path, "no id"}, "", ErrOriginRefused},
		{[]string{path}, "", ErrNotABrowser},
		{[]string{"/other/host.json", firefoxID}, "", ErrNotABrowser},
		{[]string{"/x/" + manifest.WindowsFileName(manifest.Chromium), firefoxID}, "", ErrNotABrowser},
		{[]string{"relative/" + manifest.FileName, firefoxID}, "", ErrNotABrowser},
		{[]string{"status"}, "", ErrNotABrowser},
		{[]string{"--parent-window=0", "chrome-extension://" + chromiumID + "/"}, "", ErrNotABrowser},
		{nil, "", ErrNotABrowser},
	}
	for _, tt := range tests {
		c, err := CallerOf(tt.args)
		if !errors.Is(err, tt.err) {
			t.Errorf("%q: %v, want %v", tt.args, err, tt.err)
		}
		if err == nil && c.Origin() != tt.origin {
			t.Errorf("%q: origin %q", tt.args, c.Origin())
		}
	}
}

func TestAllowList(t *testing.T) {
	list := AllowList{Chromium: []string{chromiumID}, Firefox: []string{firefoxID}}
	tests := []struct {
		caller  Caller
		allowed bool
	}{
		{Caller{manifest.Chromium, chromiumID}, true},
		{Caller{manifest.Firefox, firefoxID}, true},
		{Caller{manifest.Chromium, strings.Repeat("a", 32)}, false},
		{Caller{manifest.Firefox, chromiumID}, false},
		{Caller{manifest.Firefox, "Swapkeep-test@swapkeep.invalid"}, false},
		{Caller{}, false},
	}
	for _, tt := range tests {
		if err := list.Check(tt.caller); (err == nil) != tt.allowed {
			t.Errorf("%+v: %v", tt.caller, err)
		}
	}
	if err := (AllowList{Unknown: true}).Check(Caller{}); err != nil {
		t.Error(err)
	}
	if err := (AllowList{Unknown: true}).Check(Caller{manifest.Chromium, chromiumID}); err == nil {
		t.Error("allowing the unknown let a named stranger in")
	}
}

// FuzzCallerOf checks that any accepted caller has an id that a manifest could name.
func FuzzCallerOf(f *testing.F) {
	f.Add("chrome-extension://"+chromiumID+"/", "--parent-window=0")
	f.Add("/x/"+manifest.FileName, firefoxID)
	f.Add("", "")
	f.Fuzz(func(t *testing.T, first, second string) {
		c, err := CallerOf([]string{first, second})
		if err == nil && !c.Family.ValidID(c.ID) {
			t.Fatalf("%q %q gave %+v", first, second, c)
		}
	})
}
