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
		unknownSeen.count(s.Name, place, names)
	}
	return err
}

// ReadStrict decodes JSON and refuses members that to does not have. It is for what is
// signed, and for what an action asks a wallet to do.
func ReadStrict(raw []byte, to any) error { return rest.DecodeStrict(raw, to) }

// A Strict is a part that is decoded by [ReadStrict], in a document that is not.
type Strict[T any] struct{ Is T }

// UnmarshalJSON refuses members that T does not have.
func (w *Strict[T]) UnmarshalJSON(b []byte) error { return ReadStrict(b, &w.Is) }

// maxUnknownNames bounds the members that are counted by name at one place.
const maxUnknownNames = 64

// An UnknownMember is a member that occurs in replies and is not read here.
type UnknownMember struct {
	Service, Place, Member string
}

// memberCounts counts added members since the process started.
type memberCounts struct {
	mu    sync.Mutex
	times map[UnknownMember]int
	names map[[2]string]int // by service and place
}

var unknownSeen = memberCounts{times: map[UnknownMember]int{}, names: map[[2]string]int{}}

func (c *memberCounts) count(service, place string, members []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := [2]string{service, place}
	for _, m := range members {
		a := UnknownMember{service, place, m}
		if c.times[a] == 0 {
			if c.names[at] == maxUnknownNames {
				continue
			}
			c.names[at]++
		}
		c.times[a]++
	}
}

// UnknownMembers returns the members that occurred since the process started, sorted, and how
// often each was decoded.
func UnknownMembers() ([]UnknownMember, map[UnknownMember]int) {
	unknownSeen.mu.Lock()
	defer unknownSeen.mu.Unlock()
	times := maps.Clone(unknownSeen.times)
	return slices.SortedFunc(maps.Keys(times), func(a, b UnknownMember) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Member, b.Member))
	}), times
}
