package doctor

import (
	"context"
	"errors"
	"time"
)

// liveTime is longer than the daemon's program takes at most.
const liveTime = 6 * time.Minute

// Live makes the daemon's program compare the outside world with what it expects, and
// returns the JSON that it writes. Like [Examine] it starts no program that others could
// have replaced.
func Live(ctx context.Context, p *Env, args ...string) (string, error) {
	if p.Config != nil {
		return "", p.Config
	}
	p.look(ctx)
	defer p.facts.close()
	if why := p.unstartable(); why != "" {
		return "", errors.New("swapkeepd: " + why)
	}
	return runProgram(ctx, liveTime, p.Environ, p.Daemon, append([]string{"live"}, args...)...)
}
