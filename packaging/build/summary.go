package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
)

// The format id of an MSI's summary information (MS-OLEPS), and the properties into which
// wixl writes a random package code and the build time.
var summaryFormat = []byte{0xe0, 0x85, 0x9f, 0xf2, 0xf9, 0x4f, 0x68, 0x10, 0xab, 0x91, 0x08, 0x00, 0x2b, 0x27, 0xb3, 0xd9}

const (
	propertyPackage = 9
	propertyCreated = 12
	propertySaved   = 13

	typeText = 0x1e // the other properties of interest are times

	codeLength     = len("{8C3B1F0E-5D0A-4C0B-9E55-2B6C9E0A7D11}")
	headerToFormat = 28            // bytes of a property set before its format id
	ticks1601      = 11644473600e7 // 100 ns units between the Windows epoch and the Unix epoch
)

// settle gives an MSI the release's time and a package code derived from its content, so
// that the same content gives the same file.
func settle(path string, at time.Time) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := settleBytes(file, at); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, file, 0o644)
}

func settleBytes(file []byte, at time.Time) error {
	places, err := summary(file)
	if err != nil {
		return err
	}
	stamp := binary.LittleEndian.AppendUint64(nil, uint64(at.Unix()*1e7+ticks1601))
	for _, property := range []uint32{propertyCreated, propertySaved} {
		if len(places[property]) != len(stamp) {
			return errors.New("the summary has no time where it is looked for")
		}
		copy(places[property], stamp)
	}
	code := places[propertyPackage]
	if len(code) != codeLength || code[0] != '{' || code[codeLength-1] != '}' {
		return errors.New("the summary has no package code where it is looked for")
	}
	copy(code, bytes.Repeat([]byte{'0'}, codeLength))
	copy(code, "{"+stableID("package", fmt.Sprintf("%x", sha256.Sum256(file)))+"}")
	return nil
}

// summary finds the values of the three properties in the file itself. It assumes that
// the property set is contiguous; the caller checks the values before overwriting them.
func summary(file []byte) (map[uint32][]byte, error) {
	at := bytes.Index(file, summaryFormat) - headerToFormat
	if at < 0 || bytes.Count(file, summaryFormat) != 1 {
		return nil, errors.New("no summary information")
	}
	number := func(b []byte, at uint32) uint32 {
		if uint64(at)+4 > uint64(len(b)) {
			return 0
		}
		return binary.LittleEndian.Uint32(b[at:])
	}
	set := file[at:]
	start := number(set, uint32(headerToFormat+len(summaryFormat)))
	if uint64(start) > uint64(len(set)) {
		return nil, errors.New("the summary information is damaged")
	}
	section, found := set[start:], map[uint32][]byte{}
	for i := range min(number(section, 4), 64) {
		property, value := number(section, 8+8*i), number(section, 12+8*i)
		from, length := value+4, uint32(8) // a time
		if number(section, value) == typeText {
			from, length = value+8, uint32(codeLength)
		}
		if uint64(from)+uint64(length) <= uint64(len(section)) {
			found[property] = section[from : from+length]
		}
	}
	return found, nil
}
