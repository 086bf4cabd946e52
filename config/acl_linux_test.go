package config

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A POSIX ACL that lets other users write also sets the group bits of the mode.
func TestPosixACL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, nil, 0o660); err != nil {
		t.Fatal(err)
	}
	if hasACL(path) {
		t.Error("a file has one that was given none")
	}
	list := binary.LittleEndian.AppendUint32(nil, 2) // version; then tag, permissions and id of each entry, acl(5)
	for _, e := range [][3]uint32{{0x01, 6, 0}, {0x02, 6, otherUID}, {0x04, 4, 0}, {0x10, 6, 0}, {0x20, 0, 0}} {
		list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
		list = binary.LittleEndian.AppendUint16(list, uint16(e[1]))
		list = binary.LittleEndian.AppendUint32(list, e[2])
	}
	err := unix.Setxattr(path, "system.posix_acl_access", list, 0)
	if errors.Is(err, unix.ENOTSUP) {
		t.Skip("the file system has no lists of access")
	}
	if err != nil {
		t.Fatal(err)
	}
	if !hasACL(path) {
		t.Error("one is not seen")
	}
}
