package host

import (
	"context"
	"slices"

	"swapkeep/host/protocol"
	"swapkeep/swap"
)

func (c *call) settingsGet(_ context.Context, p *protocol.SettingsParams) (any, error) {
	if p.Reveal && c.caller().Kind != protocol.KindTerminal {
		return nil, protocol.New("terminal_only", "URLs are shown whole to a terminal only: they may hold an access key")
	}
	all := list(c.s.Settings.List(p.Reveal), c.shown)
	if len(p.Keys) == 0 {
		return protocol.SettingsResult{Settings: all}, nil
	}
	out := protocol.SettingsResult{}
	for _, key := range p.Keys {
		s, err := settingOf(all, key)
		if err != nil {
			return nil, err
		}
		out.Settings = append(out.Settings, s)
	}
	return out, nil
}

// shown removes the path of the configuration file, which like the state directory is for
// terminals only.
func (c *call) shown(s protocol.Setting) protocol.Setting {
	if s.Source == protocol.FromFile && c.caller().Kind != protocol.KindTerminal {
		s.Name = ""
	}
	return s
}

func settingOf(all []protocol.Setting, key string) (protocol.Setting, error) {
	i := slices.IndexFunc(all, func(s protocol.Setting) bool { return s.Key == key })
	if i < 0 {
		return protocol.Setting{}, protocol.Newf("setting_unknown", "no setting %s", shorten(key)).With("key", shorten(key))
	}
	return all[i], nil
}

// settingsSet checks what the change requires before anything else: a URL is not even
// tried for a caller who may not set it.
func (c *call) settingsSet(ctx context.Context, p *protocol.SetParams) (any, error) {
	values, err := valuesOf(p)
	if err != nil {
		return nil, err
	}
	s, err := settingOf(c.s.Settings.List(false), p.Key)
	if err != nil {
		return nil, err
	}
	if err := c.mayChange(ctx, s, values, p.Password); err != nil {
		return nil, err
	}
	changed, err := c.s.Settings.Change(ctx, p.Key, values)
	if err != nil {
		return nil, err
	}
	c.s.broadcast("settings.changed", protocol.SettingsChanged{Key: p.Key})
	return protocol.SetResult{Setting: c.shown(changed)}, nil
}

// valuesOf returns the new values; nil: reset the setting.
func valuesOf(p *protocol.SetParams) ([]string, error) {
	switch {
	case p.Value != nil && p.Values == nil && !p.Reset:
		return []string{*p.Value}, nil
	case p.Value == nil && len(p.Values) > 0 && !p.Reset:
		return p.Values, nil
	case p.Value == nil && p.Values == nil && p.Reset:
		return nil, nil
	}
	return nil, badParam("value", "must be given, or values, or reset: exactly one of them")
}

// mayChange refuses a setting that cannot be changed and a caller without the required
// session, password or terminal.
func (c *call) mayChange(ctx context.Context, s protocol.Setting, values []string, password protocol.Secret) error {
	right := s.Requires
	overridden := s.Source == protocol.FromEnvironment || s.Source == protocol.FromFlag
	switch {
	case s.Requires == protocol.RightNone:
		return protocol.New("setting_fixed", s.Refused).With("key", s.Key)
	case overridden:
		return protocol.New("setting_overridden", s.Refused).With("key", s.Key).With("source", s.Source).With("name", s.Name)
	case right == protocol.RightSession && !c.atTerminal(): // terminal commands open their session with the password anyway
		var err error
		if right, err = c.s.Settings.RequiredRight(s.Key, values); err != nil {
			return err
		}
	}
	switch right {
	case protocol.RightTerminal:
		if s.Key == "swap.slippage" {
			return protocol.New("slippage_terminal", "").With("key", s.Key)
		}
		return protocol.New("terminal_only", "this value is taken from a terminal only").With("key", s.Key)
	case protocol.RightPassword:
		return c.needPassword(ctx, password)
	}
	if _, e := c.needSession(); e != nil {
		return e
	}
	return nil
}

// needPassword requires the password with this request, whatever session is open.
func (c *call) needPassword(ctx context.Context, password protocol.Secret) error {
	if len(password) == 0 {
		return badParam("password", "is missing; this change needs it each time")
	}
	return c.s.Wallet.CheckPassword(ctx, password)
}

// priceSourcesWithKey are the price sources that take a key.
var priceSourcesWithKey = []string{"coingecko", "hosted"}

func (c *call) providersSetKey(ctx context.Context, p *protocol.SetKeyParams) (any, error) {
	if !slices.Contains(swap.Kinds(), swap.Kind(p.Provider)) && !slices.Contains(priceSourcesWithKey, p.Provider) {
		return nil, badParam("provider", "must be dex, bridge, intent or gasless; for prices coingecko or hosted")
	}
	if !isKey(p.Key) {
		return nil, badParam("key", "must be 1 to 512 printable ASCII characters without spaces, or empty")
	}
	if err := c.needPassword(ctx, p.Password); err != nil {
		return nil, err
	}
	if err := c.s.ProviderKeys.SetProviderKey(ctx, p.Provider, p.Key); err != nil {
		return nil, err
	}
	return protocol.SetKeyResult{Provider: p.Provider, Set: len(p.Key) > 0}, nil
}

// isKey reports whether key can be the value of an HTTP header, where keys are sent. A
// line break would start another header.
func isKey(key []byte) bool {
	return len(key) <= 512 && !slices.ContainsFunc(key, func(b byte) bool { return b <= ' ' || b > '~' })
}
