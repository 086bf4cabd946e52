package installer

import (
	"context"
	"fmt"
	"strings"

	"swapkeep/internal/failpoint"
)

// A Stopped error is a plan that failed half-way. Its receipts list everything that was
// done or about to be done, so that the plan can be applied again or uninstalled.
type Stopped struct {
	Done   []Change // in order
	Failed Change
	Err    error
}

func (s *Stopped) Error() string {
	return fmt.Sprintf("%s %s: %v (%d changes were made before; run install again to continue, or uninstall to undo them)",
		s.Failed.Kind, s.Failed.Path, s.Err, len(s.Done))
}

func (s *Stopped) Unwrap() error { return s.Err }

// Apply carries out a plan and stops at the first failure. The receipts are written
// first. It may be repeated; a plan without changes changes nothing. Errors: ErrForeign
// without Force, and for anything that appeared after the plan was made; *Stopped.
func Apply(ctx context.Context, m Machine, p *Plan) (*Receipts, error) {
	if len(p.Foreign) > 0 && !p.Force {
		all := make([]string, len(p.Foreign))
		for i, f := range p.Foreign {
			all[i] = f.String()
		}
		return p.receipts, fmt.Errorf("%w: %s; inspect it, then replace it with --force", ErrForeign, strings.Join(all, ", "))
	}
	if len(p.Changes) == 0 {
		return p.receipts, nil
	}
	for _, c := range p.Changes {
		p.receipts.put(c.receipt(p))
	}
	if err := p.receipts.write(m, p.Receipts); err != nil {
		return p.receipts, fmt.Errorf("write the receipts: %w; nothing was changed", err)
	}
	for i, c := range p.Changes {
		failpoint.Point("installer.before_change")
		err := ctx.Err()
		if err == nil {
			err = c.checkUnchanged(m)
		}
		if err == nil {
			err = kinds[c.Kind].make(m, c)
		}
		if err != nil {
			return p.receipts, &Stopped{Done: p.Changes[:i], Failed: c, Err: err}
		}
	}
	failpoint.Point("installer.before_settle")
	if err := p.receipts.settle(m); err != nil {
		return p.receipts, err
	}
	return p.receipts, p.receipts.write(m, p.Receipts)
}

// checkUnchanged returns ErrForeign if something is there that was not when the plan was made,
// because nobody has agreed to replace it.
func (c Change) checkUnchanged(m Machine) error {
	sum, there, err := kinds[c.Kind].sum(m, c.Path, c.Name)
	if err != nil || !there || sum == c.Replaces || sum == c.SHA256 {
		return err
	}
	return fmt.Errorf("%w: %s was changed meanwhile; inspect it, then try again",
		ErrForeign, strings.TrimSpace(c.Path+" "+c.Name))
}

// settle marks pending entries as made if they are in place, including those of an
// earlier installation that was stopped.
func (r *Receipts) settle(m Machine) error {
	for i, e := range r.Entries {
		if !e.Pending {
			continue
		}
		sum, there, err := kinds[e.Kind].sum(m, e.Path, e.Name)
		if err != nil {
			return fmt.Errorf("look at %s: %w", e.Path, err)
		}
		if there && sum == e.SHA256 {
			r.Entries[i].Pending, r.Entries[i].Before = false, ""
		}
	}
	return nil
}

// receipt returns the entry for a change that is about to be made.
func (c Change) receipt(p *Plan) Receipt {
	e := Receipt{Kind: c.Kind, Path: c.Path, Name: c.Name, SHA256: c.SHA256, Pending: true, Time: p.time, Version: p.Version, Owner: p.Launch}
	if c.ours {
		e.Before = c.Replaces
	}
	return e
}
