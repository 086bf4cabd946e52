// Command build makes Swapkeep's packages for all systems from one commit, reproducibly:
// the same commit gives the same bytes. It runs in the repository's root, as "make
// packages" does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"swapkeep/manifest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r := &release{ctx: ctx, IDs: map[manifest.Family][]string{}}
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.StringVar(&r.Version, "version", "", "`version` of the release, as 1.2.3")
	flags.StringVar(&r.URL, "url", "", "where the packages will be served, without the file's name")
	flags.StringVar(&r.out, "out", "build/packages", "`directory` of the finished packages; what is in it is removed")
	flags.StringVar(&r.nfpm, "nfpm", "nfpm", "the nfpm `program`")
	flags.BoolVar(&r.development, "development", false, "take ids of development and tests too, which no release does")
	flags.BoolVar(&r.dirty, "dirty", false, "the source is not a commit's: the programs say so in their version")
	ids := map[manifest.Family]*string{}
	for _, family := range manifest.Families() {
		ids[family] = flags.String(string(family)+"-ids", "", "`ids` of the extension, with commas between, besides those that are released")
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, family := range manifest.Families() {
		r.IDs[family] = split(*ids[family])
	}
	if err := r.prepare(os.Getenv); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	for _, s := range steps {
		began := time.Now()
		if err := s.make(r); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Printf("%-12s %5.1f s\n", s.name, time.Since(began).Seconds())
	}
	return nil
}

// steps run in this order, because later ones need earlier ones.
var steps = []struct {
	name string
	make func(*release) error
}{
	{"programs", (*release).programs},
	{"documents", (*release).documents},
	{"deb and rpm", (*release).linux},
	{"windows", (*release).windows},
	{"archives", (*release).archives},
	{"container", (*release).container},
	{"texts", (*release).texts},
	{"bom", (*release).bom},
	{"sums", (*release).sums},
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
}

// prepare checks the arguments and creates the directories.
func (r *release) prepare(getenv func(string) string) error {
	seconds, err := strconv.ParseInt(getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("set SOURCE_DATE_EPOCH to the commit's time in seconds: it is every file's time")
	}
	r.Time = time.Unix(seconds, 0).UTC()
	r.signer = signer{cert: getenv("SIGN_CERT"), key: getenv("SIGN_KEY"), timestamp: getenv("SIGN_TIMESTAMP")}
	if err := errors.Join(r.check(), absolute(&r.out, &r.signer.cert, &r.signer.key)); err != nil {
		return err
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	r.work, err = os.MkdirTemp("", "swapkeep-packages-")
	return err
}

// absolute makes paths absolute, for tools that run elsewhere. Empty ones stay empty.
func absolute(paths ...*string) (err error) {
	for _, p := range paths {
		if *p != "" && err == nil {
			*p, err = filepath.Abs(*p)
		}
	}
	return err
}
