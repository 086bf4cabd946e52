package wire

import (
	"strconv"
	"time"

	"swapkeep/rest"
	"swapkeep/swap"
)

// MaxSkew is by how much a service's clock may differ from ours: beyond it no expiry
// of either means anything to the other.
const MaxSkew = 60 * time.Second

// Skew is how far a service's clock is ahead of ours by a reply, 0 where the reply
// does not say. More than MaxSkew is refused.
func (s Service) Skew(reply *rest.Reply) (time.Duration, error) {
	skew, _ := reply.Skew()
	if skew.Abs() > MaxSkew {
		return 0, s.Skewed(skew)
	}
	return skew, nil
}

// Skewed refuses a service whose clock is off by so much.
func (s Service) Skewed(skew time.Duration) *swap.Refusal {
	r := s.Refuse(swap.ClockSkew, "clock", "has a clock that differs from this machine's by %s; set the clock and try again", skew.Abs().Round(time.Second))
	r.Data = map[string]string{"skewSeconds": strconv.Itoa(int(skew.Seconds()))}
	return r
}
