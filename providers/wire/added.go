package wire

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"swapkeep/rest"
)

// Read decodes a part of a reply into to. Members that to does not have are ignored, since
// nothing depends on them, and counted under the part's place: services add members. Names
// are matched as by [rest.Decode].
func (s Service) Read(place string, raw []byte, to any) error {
	names, err := rest.Decode(raw, to)
	if err == nil {
		added.count(s.Name, place, names)
	}
	return err
}

// ReadWhole decodes JSON and refuses members that to does not have. It is for what is
// signed, and for what an action asks a wallet to do.
func ReadWhole(raw []byte, to any) error { return rest.DecodeWhole(raw, to) }

// A Whole is a part that is decoded by [ReadWhole], in a document that is not.
type Whole[T any] struct{ Is T }

// UnmarshalJSON refuses members that T does not have.
func (w *Whole[T]) UnmarshalJSON(b []byte) error { return ReadWhole(b, &w.Is) }

// maxAdded bounds the members that are counted by name at one place.
const maxAdded = 64

// An Added is a member that occurs in replies and is not read here.
type Added struct {
	Service, Place, Member string
}

// counts counts added members since the process started.
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

// AddedMembers returns the members that occurred since the process started, sorted, and how
// often each was decoded.
func AddedMembers() ([]Added, map[Added]int) {
	added.mu.Lock()
	defer added.mu.Unlock()
	times := maps.Clone(added.times)
	return slices.SortedFunc(maps.Keys(times), func(a, b Added) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Member, b.Member))
	}), times
}
