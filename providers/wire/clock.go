package wire

import (
	"strconv"
	"time"

	"swapkeep/rest"
	"swapkeep/swap"
)

// MaxSkew is by how much a service's clock may differ from ours. Beyond it neither's expiry
// times mean anything to the other.
const MaxSkew = 60 * time.Second

// Skew returns how far a service's clock is ahead of ours according to a reply, 0 if the
// reply does not say. More than MaxSkew is refused with [swap.ClockSkew].
func (s Service) Skew(reply *rest.Reply) (time.Duration, error) {
	skew, _ := reply.Skew()
	if skew.Abs() > MaxSkew {
		return 0, s.Skewed(skew)
	}
	return skew, nil
}

// Skewed returns the refusal of a service whose clock is off by skew.
func (s Service) Skewed(skew time.Duration) *swap.Refusal {
	r := s.Refuse(swap.ClockSkew, "clock", "has a clock that differs from this machine's by %s; set the clock and try again", skew.Abs().Round(time.Second))
	r.Data = map[string]string{"skewSeconds": strconv.Itoa(int(skew.Seconds()))}
	return r
}
