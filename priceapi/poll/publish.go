package poll

import (
	"context"

	"swapkeep/priceapi/board"
	"swapkeep/priceapi/price"
)

// publish makes a board of what is believed now and what was a day ago.
func (p *Poller) publish(ctx context.Context) {
	now := p.o.Now()
	ago, err := p.o.History.Near(ctx, now.Add(-day), agoTolerance)
	if err != nil {
		p.o.Log(Notice{From: "history", Err: err})
	}
	watched := p.o.Tokens()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.health.History = err
	}
	rows := make([]board.Row, 0, len(watched))
	for _, w := range watched {
		id := price.IDOf(w.Token)
		b := p.beliefs[id]
		r := board.Row{Token: w.Token, Public: w.Public, Now: b.sample, Facts: p.facts[id]}
		if past := now.Sub(b.taken); past > staleAfter || past < -ahead {
			r.Stale = b.sample.Known()
		}
		if !r.Stale {
			r.Ago = ago[id]
		}
		rows = append(rows, r)
	}
	p.seq++
	p.o.Feed.Publish(board.New(p.seq, p.taken, rows))
}
