package settings

import (
	"context"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"swapkeep/config"
	"swapkeep/host/protocol"
)

// Options are the dependencies of a daemon's settings.
type Options struct {
	Chains []uint64 // the networks, in order
	// Check refuses a configuration that the daemon's parts would not accept. It makes no
	// requests. nil: only the configuration's own check applies.
	Check func(config.Config) error
	// DefaultRPC returns a network's built-in endpoints, used if no others are set.
	DefaultRPC func(chain uint64) []string
	// ProveRPC checks that every URL serves the network. Its error names hosts only.
	ProveRPC func(ctx context.Context, chain uint64, urls []string) error
	// Apply puts a change into effect for a setting that applies now. It is called after
	// the change is on disk, one call at a time, and cannot fail: Check and ProveRPC have
	// refused what is invalid.
	Apply func(key string, c config.Config)
}

// Slippage returns the slippage for quotes that give none.
func (s *Settings) Slippage() protocol.Percent {
	return protocol.Percent(s.Config().Swap.Slippage.Hundredths)
}

// List returns every setting, with full URLs and file names only if reveal is set.
func (s *Settings) List(reveal bool) []protocol.Setting {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]protocol.Setting, len(s.rows))
	for i, r := range s.rows {
		all[i] = s.show(r, reveal)
	}
	return all
}

// show returns one setting. The caller holds s.mu.
func (s *Settings) show(r row, reveal bool) protocol.Setting {
	origin := s.effective.Origin(r.key)
	out := protocol.Setting{
		Key: r.key, Description: r.does, Type: r.kind, Source: string(origin.Source), Name: origin.Name, Requires: r.right, Refused: r.fixed,
		TakesEffect: r.applies, PasswordAbove: r.passwordAbove, TerminalAbove: r.terminalAbove, Min: r.min, Max: r.max, Choices: r.choices, Masked: r.mask != nil && !reveal,
	}
	if s.effective.Overridden(r.key) && r.fixed == "" {
		out.Refused = map[config.Source]string{
			config.FromEnvironment: "set by the environment: " + origin.Name,
			config.FromFlag:        "set by a flag of the daemon: " + origin.Name,
		}[origin.Source]
	}
	values := s.valuesOf(&s.effective, r)
	if r.applies == protocol.AppliesRestart {
		out.Pending = !slices.Equal(values, s.valuesOf(&s.started, r))
	}
	if out.Masked {
		for i, v := range values {
			values[i] = r.mask(v)
		}
	}
	defaults := config.Default()
	if r.kind == protocol.SettingURLs {
		out.Values = values
		return out
	}
	out.Value, out.Default = strings.Join(values, ","), strings.Join(s.valuesOf(&defaults, r), ",")
	return out
}

// valuesOf returns the values of a key. Without endpoints, a network's built-in ones are
// returned.
func (s *Settings) valuesOf(c *config.Config, r row) []string {
	values, err := c.Values(r.key)
	if err != nil {
		panic(err) // the table is tested against the configuration
	}
	if len(values) == 0 && r.kind == protocol.SettingURLs && s.o.DefaultRPC != nil && !c.Sandbox {
		return s.o.DefaultRPC(NetworkOf(r.key))
	}
	return values
}

// NetworkOf returns the chain id of a key networks.N.…, or 0 for any other key.
func NetworkOf(key string) uint64 {
	rest, ok := strings.CutPrefix(key, "networks.")
	if !ok {
		return 0
	}
	digits, _, _ := strings.Cut(rest, ".")
	id, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// hostOf returns only the host of a URL; the rest may be an access key.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

// nameOf returns a file's name without its directory.
func nameOf(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// Change sets a setting, or resets it with nil. When it returns, the change is on disk
// and, if the setting applies now, in effect. Errors are of the protocol's table: for an
// unknown, fixed or overridden setting, a malformed or out-of-bounds value, and RPC URLs
// that do not prove their network.
func (s *Settings) Change(ctx context.Context, key string, values []string) (protocol.Setting, error) {
	i := slices.IndexFunc(s.rows, func(r row) bool { return r.key == key })
	if i < 0 {
		return protocol.Setting{}, protocol.New("setting_unknown", "")
	}
	r := s.rows[i]
	if err := s.checkChange(r, values); err != nil {
		return protocol.Setting{}, err
	}
	if r.kind == protocol.SettingURLs && values != nil && s.o.ProveRPC != nil { // without the lock, because it may take long
		if err := s.o.ProveRPC(ctx, NetworkOf(key), values); err != nil {
			return protocol.Setting{}, protocol.Newf("rpc_refused", "%s", err).With("key", key)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next, err := s.withChoice(key, values)
	if err != nil {
		return protocol.Setting{}, refusedValue(key, err)
	}
	if err := s.store(key, values); err != nil {
		return protocol.Setting{}, err
	}
	s.effective = next
	if r.applies == protocol.AppliesNow && s.o.Apply != nil {
		s.o.Apply(key, next)
	}
	return s.show(r, false), nil
}

// RequiredRight returns what a browser must provide to set these values, or with nil to reset the
// setting: the setting's right or, if the resulting value is above a bound of its row,
// the password or a terminal. It refuses like Change.
func (s *Settings) RequiredRight(key string, values []string) (right string, err error) {
	i := slices.IndexFunc(s.rows, func(r row) bool { return r.key == key })
	if i < 0 {
		return "", protocol.New("setting_unknown", "")
	}
	r := s.rows[i]
	if r.passwordAbove == "" && r.terminalAbove == "" {
		return r.right, nil
	}
	if err := s.checkChange(r, values); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next, err := s.withChoice(key, values)
	if err != nil {
		return "", refusedValue(key, err)
	}
	value := s.valuesOf(&next, r)[0]
	switch {
	case r.above(value, r.terminalAbove):
		return protocol.RightTerminal, nil
	case r.above(value, r.passwordAbove):
		return protocol.RightPassword, nil
	}
	return r.right, nil
}

// above reports whether a value is above a bound; "" is no bound. Of a choice, the first
// in the list is the highest.
func (r row) above(value, bound string) bool {
	if bound == "" {
		return false
	}
	rank := ranks[r.kind]
	v, known := rank(r, value)
	b, sound := rank(r, bound)
	return !known || !sound || v > b
}

// ranks orders the values of a type.
var ranks = map[string]func(r row, value string) (int64, bool){
	protocol.SettingPercent: func(_ row, value string) (int64, bool) {
		p, err := protocol.ParsePercent(value)
		return int64(p), err == nil
	},
	protocol.SettingDuration: func(_ row, value string) (int64, bool) {
		d, err := time.ParseDuration(value)
		return int64(d), err == nil
	},
	protocol.SettingChoice: func(r row, value string) (int64, bool) {
		i := slices.Index(r.choices, value)
		return -int64(i), i >= 0
	},
}

// checkChange refuses what can be refused without trying the configuration, and then tries it.
func (s *Settings) checkChange(r row, values []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.right == protocol.RightNone:
		return protocol.New("setting_fixed", r.fixed).With("key", r.key)
	case s.base.Overridden(r.key):
		return protocol.New("setting_overridden", "").With("key", r.key).With("name", s.base.Origin(r.key).Name)
	case values == nil:
		return nil
	case !utf8.ValidString(strings.Join(values, ",")): // it would be stored as another text
		return protocol.New("setting_refused", "it must be a text").With("key", r.key)
	case r.kind != protocol.SettingURLs && len(values) != 1:
		return protocol.New("setting_refused", "it takes a single value").With("key", r.key)
	case r.kind == protocol.SettingURLs && slices.ContainsFunc(values, func(u string) bool { return strings.Contains(u, ",") || strings.TrimSpace(u) != u || u == "" }):
		return protocol.New("setting_refused", "a URL must not contain spaces or commas").With("key", r.key)
	case r.kind == protocol.SettingChoice && !slices.Contains(r.choices, values[0]):
		return protocol.New("setting_refused", "it must be one of "+strings.Join(r.choices, ", ")).With("key", r.key)
	}
	_, err := s.withChoice(r.key, values)
	return refusedValue(r.key, err)
}

func refusedValue(key string, err error) error {
	if err == nil {
		return nil
	}
	return protocol.Newf("setting_refused", "%s", err).With("key", key)
}

// withChoice returns the configuration with one more choice, or with nil without it. The
// caller holds s.mu or is the only user of s.
func (s *Settings) withChoice(key string, values []string) (config.Config, error) {
	all := maps.Clone(s.chosen)
	delete(all, key)
	if values != nil {
		all[key] = values
	}
	next, err := s.base.With(all)
	if err == nil && s.o.Check != nil {
		err = s.o.Check(next)
	}
	return next, err
}

// store stores a choice, or with nil deletes it. The caller holds s.mu.
func (s *Settings) store(key string, values []string) error {
	if values == nil {
		if err := s.drop(key); err != nil {
			return err
		}
		delete(s.chosen, key)
		delete(s.ignored, key)
		return nil
	}
	if err := s.put(key, values); err != nil {
		return err
	}
	s.chosen[key] = slices.Clone(values)
	delete(s.ignored, key)
	return nil
}
