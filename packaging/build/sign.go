package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// A signer signs Windows files for the publisher. The zero value does not sign.
type signer struct {
	cert, key string // PEM files
	timestamp string // URL of a timestamp service; builds are then not reproducible
}

func (s signer) check() error {
	if (s.cert == "") != (s.key == "") {
		return errors.New("signing needs both SIGN_CERT and SIGN_KEY")
	}
	return nil
}

// unsignedMark returns what the names of unsigned packages contain.
func (s signer) unsignedMark() string {
	if s.cert == "" {
		return "unsigned."
	}
	return ""
}

// sign signs a file in place, if there is a certificate.
func (r *release) sign(path string) error {
	if r.signer.cert == "" {
		return nil
	}
	if err := r.run(nil, signTool, append(r.signArgs(), "-in", path, "-out", path+".signed")...); err != nil {
		return err
	}
	return os.Rename(path+".signed", path)
}

const signTool = "osslsigncode"

// signArgs returns all arguments except the files. The signature's time is the release's.
func (r *release) signArgs() []string {
	args := []string{"sign", "-certs", r.signer.cert, "-key", r.signer.key, "-h", "sha256", "-n", "Swapkeep", "-time", fmt.Sprint(r.Time.Unix())}
	if r.signer.timestamp != "" {
		args = append(args, "-ts", r.signer.timestamp)
	}
	return args
}

// signScript is sign as a shell script: NSIS needs it to sign the uninstaller, which
// exists only while NSIS runs.
func (r *release) signScript() []byte {
	var words strings.Builder
	for _, arg := range r.signArgs() {
		words.WriteString(" '" + strings.ReplaceAll(arg, "'", `'\''`) + "'")
	}
	return []byte("set -e\n" + signTool + words.String() + ` -in "$1" -out "$1.signed"` + "\n" + `mv "$1.signed" "$1"` + "\n")
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
