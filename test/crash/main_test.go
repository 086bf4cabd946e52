//go:build faults && linux

// Package crash kills the real daemon at every named point, fills its disk and takes its
// database away, and then checks on the chain what was paid. Run it with
//
//	make crash
//
// which kills it at a point's first and last hit, and, in flows that resemble another, only
// at the points they are for (see flow.ownPart and flow.onlyPoints in the tables of flows). To kill
// it at each hit of all points, which takes longer:
//
//	go test -tags faults -count=1 -v -timeout 60m ./test/crash -args -every
//
// Nothing here is mocked: relays and daemons are the real programs, built with the tag
// faults from this source; the chains are the sandbox's.
package crash

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"swapkeep/test/programs"
)

// atOnce is how many cases run at the same time, each on a lane of its own.
const atOnce = 8

// root holds what all tests share, and every test's own directory. It is short because of
// the limit on socket paths.
var root string

// bins are the directories of the programs: built for fault tests, and as a release.
var bins = struct{ faults, release string }{}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if root, err = os.MkdirTemp("", "skc"); err != nil {
		return fail(err)
	}
	defer os.RemoveAll(root)
	if err := os.Chmod(root, 0o711); err != nil { // so that an unprivileged user can enter
		return fail(err)
	}
	if err := build(); err != nil {
		return fail(err)
	}
	if err := flag.Set("test.parallel", fmt.Sprint(atOnce)); err != nil {
		return fail(err)
	}
	// Daemons outlive the relays that start them. As a subreaper this process becomes the
	// parent of orphans, so that it learns how they ended.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fail(err)
	}
	if err := openLanes(); err != nil {
		return fail(err)
	}
	code := m.Run()
	if err := closeLanes(); err != nil {
		return fail(err)
	}
	return code
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "crash:", err)
	return 1
}

// build builds both kinds of programs.
func build() error {
	bins.faults, bins.release = filepath.Join(root, "faults"), filepath.Join(root, "release")
	for dir, tags := range map[string]string{bins.faults: "faults", bins.release: ""} {
		if err := programs.Build(dir, tags, ""); err != nil {
			return err
		}
	}
	return nil
}
