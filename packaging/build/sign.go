package main

import (
	"errors"
	"fmt"
	"os"
)

// A signer puts the publisher's signature on Windows' files. The zero one has none.
type signer struct {
	cert, key string // PEM files
	timestamp string // URL of a time stamp service; the bytes then differ in every build
}

func (s signer) check() error {
	if (s.cert == "") != (s.key == "") {
		return errors.New("signing needs both SIGN_CERT and SIGN_KEY")
	}
	return nil
}

// mark is in the name of a package that nobody signed.
func (s signer) mark() string {
	if s.cert == "" {
		return "unsigned."
	}
	return ""
}

// sign signs a file in place, if there is a certificate. The signature's own time is the
// release's.
func (r *release) sign(path string) error {
	if r.signer.cert == "" {
		return nil
	}
	args := []string{"sign", "-certs", r.signer.cert, "-key", r.signer.key, "-h", "sha256", "-n", "Swapkeep",
		"-time", fmt.Sprint(r.Time.Unix()), "-in", path, "-out", path + ".signed"}
	if r.signer.timestamp != "" {
		args = append(args, "-ts", r.signer.timestamp)
	}
	if err := r.run(nil, "osslsigncode", args...); err != nil {
		return err
	}
	return os.Rename(path+".signed", path)
}

func (r *release) signPrograms() error {
	for _, t := range targets {
		if t.OS != "windows" {
			continue
		}
		for _, command := range t.commands {
			if err := r.sign(r.program(t, command)); err != nil {
				return err
			}
		}
	}
	return nil
}
