package doctor

import (
	"context"
	"errors"
	"time"
)

// liveTime is above what the daemon's program takes at most.
const liveTime = 6 * time.Minute

// Live has the daemon's program hold the world against what it believes, and returns the
// JSON that it writes. Like [Examine] it starts no program that others could have
// replaced.
func Live(ctx context.Context, p *Patient, args ...string) (string, error) {
	if p.Config != nil {
		return "", p.Config
	}
	p.look(ctx)
	defer p.seen.close()
	if why := p.unstartable(); why != "" {
		return "", errors.New("swapkeepd: " + why)
	}
	return say(ctx, liveTime, p.Environ, p.Daemon, append([]string{"live"}, args...)...)
}
