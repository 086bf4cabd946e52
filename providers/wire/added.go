package wire

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"swapkeep/rest"
)

// Read reads a part of a reply into to. A member that to has no place for is ignored,
// since nothing is decided by it, and counted under the part's place: services add
// members. Names are told apart as [rest.Decode] has it.
func (s Service) Read(place string, raw []byte, to any) error {
	names, err := rest.Decode(raw, to)
	if err == nil {
		added.count(s.Name, place, names)
	}
	return err
}

// ReadWhole reads JSON of which no member may be left unread: what is signed, and what
// an action asks a wallet to do.
func ReadWhole(raw []byte, to any) error { return rest.DecodeWhole(raw, to) }

// A Whole is a part that is read by [ReadWhole], of something that is not.
type Whole[T any] struct{ Is T }

// UnmarshalJSON refuses members that T has no place for.
func (w *Whole[T]) UnmarshalJSON(b []byte) error { return ReadWhole(b, &w.Is) }

// maxAdded bounds the members that are counted by name at one place.
const maxAdded = 64

// An Added member is in replies, and nothing here reads it.
type Added struct {
	Service, Place, Member string
}

// counts are of this process.
type counts struct {
	mu    sync.Mutex
	times map[Added]int
	names map[[2]string]int // by service and place
}

var added = counts{times: map[Added]int{}, names: map[[2]string]int{}}

func (c *counts) count(service, place string, members []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := [2]string{service, place}
	for _, m := range members {
		a := Added{service, place, m}
		if c.times[a] == 0 {
			if c.names[at] == maxAdded {
				continue
			}
			c.names[at]++
		}
		c.times[a]++
	}
}

// AddedMembers are those that were met since the process began, in order, and how often
// a reading of the place met them.
func AddedMembers() ([]Added, map[Added]int) {
	added.mu.Lock()
	defer added.mu.Unlock()
	times := maps.Clone(added.times)
	return slices.SortedFunc(maps.Keys(times), func(a, b Added) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Member, b.Member))
	}), times
}
