// Package memscan searches the memory of its own process for secrets.
package memscan

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

// mask is XORed with each secret, so that the needles are not found themselves.
const mask = 0xa7

// chunk is the number of bytes searched at a time.
const chunk = 1 << 20

// A Needle is a secret to search for. It does not contain the secret itself.
type Needle struct {
	name   string
	masked []byte
}

// Of returns a needle for a secret. The caller wipes the secret.
func Of(name string, secret []byte) Needle {
	n := Needle{name, make([]byte, len(secret))}
	for i, b := range secret {
		n.masked[i] = b ^ mask
	}
	return n
}

// Xored returns a needle for a secret with each byte XORed with b, as in the pads of
// HMAC.
func Xored(name string, secret []byte, b byte) Needle {
	n := Of(name, secret)
	for i := range n.masked {
		n.masked[i] ^= b
	}
	return n
}

// Letters returns random lower-case text.
func Letters(n int) []byte {
	text := make([]byte, n)
	_, _ = rand.Read(text) // never fails
	for i, b := range text {
		text[i] = 'a' + b%26
	}
	return text
}

// Find returns the names of the needles found in writable memory of this process or in
// its threads' vector registers, each with an address.
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
	// A region of its own that is not searched, because it holds what is found.
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

// saveRegisters sends every thread a signal, so that its registers are saved to memory,
// as any later signal might do. Without it, a value only in registers would be found one
// time in twenty.
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

// delivered is the time allowed for the signals to reach all threads. On a busy machine
// it may be too short, and then less is found.
const delivered = 20 * time.Millisecond

// shortest is the minimum length of a needle, so that matches are not due to chance.
const shortest = 12

// A haystack searches for all needles in one pass.
type haystack struct {
	begins [1 << 16][]Needle // by their first two bytes
	found  []string
}

func pair(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

func (h *haystack) add(n Needle) {
	at := pair(n.masked[0]^mask, n.masked[1]^mask)
	h.begins[at] = append(h.begins[at], n)
}

// look searches b, which was read at address at.
func (h *haystack) look(b []byte, at uintptr) {
	for i := 0; i+shortest <= len(b); i++ {
		if i%page == 0 && i+page <= len(b) && bytes.Equal(b[i:i+page], blank[:]) {
			i += page - shortest // a needle may begin at the end of the page
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

// enormous is a size that only regions of the race detector reach.
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
