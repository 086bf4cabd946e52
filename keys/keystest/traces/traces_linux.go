// Package traces looks for secrets in the memory of the process that it is in.
package traces

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mask keeps what is looked for out of the memory that is searched.
const mask = 0xa7

// chunk is how much memory is looked at together.
const chunk = 1 << 20

// A Needle is a secret to look for. It does not hold the secret itself.
type Needle struct {
	name   string
	masked []byte
}

// Of returns the needle of a secret, which stays the caller's to wipe.
func Of(name string, secret []byte) Needle {
	n := Needle{name, make([]byte, len(secret))}
	for i, b := range secret {
		n.masked[i] = b ^ mask
	}
	return n
}

// Xored returns the needle of a secret each byte of which was combined with b,
// as the pads of HMAC are.
func Xored(name string, secret []byte, b byte) Needle {
	n := Of(name, secret)
	for i := range n.masked {
		n.masked[i] ^= b
	}
	return n
}

// Letters returns random lower-case text that nobody else holds.
func Letters(n int) []byte {
	text := make([]byte, n)
	_, _ = rand.Read(text) // never fails
	for i, b := range text {
		text[i] = 'a' + b%26
	}
	return text
}

// Find returns the names of the needles that are in writable memory of this
// process or in its threads' vector registers, each with an address.
func Find(needles ...Needle) ([]string, error) {
	if err := saveRegisters(); err != nil {
		return nil, err
	}
	regions, err := writable()
	if err != nil {
		return nil, err
	}
	h := &haystack{}
	longest := 0
	for _, n := range needles {
		if len(n.masked) < shortest {
			return nil, fmt.Errorf("%s is too short to be told from chance", n.name)
		}
		longest = max(longest, len(n.masked))
		h.add(n)
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	// A region of its own, which is not searched: it holds what is found.
	buf, err := unix.Mmap(-1, 0, chunk+longest, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Munmap(buf) }()
	own := uintptr(unsafe.Pointer(&buf[0]))
	for _, r := range regions {
		if own >= r.from && own < r.to {
			continue
		}
		for at := r.from; at < r.to; at += chunk {
			part := buf[:min(uintptr(len(buf)), r.to-at)]
			n, err := memory.ReadAt(part, int64(at))
			if n == 0 && err != nil && !errors.Is(err, io.EOF) {
				continue // unmapped meanwhile, or a guard page
			}
			h.look(part[:n], at)
		}
	}
	slices.Sort(h.found)
	return slices.Compact(h.found), nil
}

// saveRegisters has a signal write each thread's registers into memory, where any
// later one might: what is only in them now would be found at one time in twenty.
func saveRegisters() error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		if err := unix.Tgkill(unix.Getpid(), id, unix.SIGURG); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	time.Sleep(delivered)
	return nil
}

// delivered is more than a signal takes to all threads, unless the machine is busy: then
// less is found.
const delivered = 20 * time.Millisecond

// shortest is the fewest bytes that are told from chance.
const shortest = 12

// A haystack is looked through once for all needles.
type haystack struct {
	begins [1 << 16][]Needle // by their first two bytes
	found  []string
}

func pair(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

func (h *haystack) add(n Needle) {
	at := pair(n.masked[0]^mask, n.masked[1]^mask)
	h.begins[at] = append(h.begins[at], n)
}

// look searches b, which was read at an address.
func (h *haystack) look(b []byte, at uintptr) {
	for i := 0; i+shortest <= len(b); i++ {
		if i%page == 0 && i+page <= len(b) && bytes.Equal(b[i:i+page], blank[:]) {
			i += page - shortest // a needle may begin at its end
			continue
		}
		for _, n := range h.begins[pair(b[i], b[i+1])] {
			if n.at(b[i:]) {
				h.found = append(h.found, fmt.Sprintf("%s at %#x", n.name, at+uintptr(i)))
			}
		}
	}
}

const page = 4096

var blank [page]byte

// at reports whether b begins with the secret.
func (n Needle) at(b []byte) bool {
	if len(b) < len(n.masked) {
		return false
	}
	for i, m := range n.masked {
		if b[i]^mask != m {
			return false
		}
	}
	return true
}

type region struct {
	from, to uintptr
}

// enormous regions are the race detector's own.
const enormous = 64 << 30

func writable() ([]region, error) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	var all []region
	for line := range strings.Lines(string(text)) {
		var r region
		f := strings.Fields(line)
		if _, err := fmt.Sscanf(f[0], "%x-%x", &r.from, &r.to); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(f[1], "rw") {
			continue
		}
		if r.to-r.from < enormous {
			all = append(all, r)
		}
	}
	return all, nil
}
