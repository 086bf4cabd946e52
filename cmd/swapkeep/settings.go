package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

func newSettings(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "settings", Short: "Show and change settings", Args: noArguments,
		Long: "Show and change settings. They are keys of the configuration file. A value set here overrides the file; the\n" +
			"environment and flags override it.",
	}
	var reveal bool
	get := func(ctx context.Context, l *daemonConn, keys []string) error { return l.getSettings(ctx, keys, reveal) }
	cmd.RunE = t.withDaemon(get)
	getting := &cobra.Command{
		Use: "get [KEY...]", Short: "Show settings and what a change requires", RunE: t.withDaemon(get), ValidArgsFunction: t.complete(completeSettings),
	}
	for _, c := range []*cobra.Command{cmd, getting} {
		c.Flags().BoolVar(&reveal, "reveal", false, "show full URLs, including access keys in them")
	}
	cmd.AddCommand(getting, newSettingsSet(t), newSettingsReset(t))
	return cmd
}

var settingColumns = []screen.Column{{Head: "key"}, {Head: "value"}, {Head: "from"}, {Head: "what it is for", Shrinks: true}}

func (l *daemonConn) getSettings(ctx context.Context, keys []string, reveal bool) error {
	return show(ctx, l, "settings.get", protocol.SettingsParams{Keys: keys, Reveal: reveal}, func(r protocol.SettingsResult) error {
		if len(keys) > 0 {
			for _, s := range r.Settings {
				l.t.printSetting(s)
			}
			return nil
		}
		rows := make([][]string, 0, len(r.Settings))
		for _, s := range r.Settings {
			rows = append(rows, []string{s.Key, valueText(s), s.Source, s.Description})
		}
		l.t.result.Table(settingColumns, rows)
		return nil
	})
}

// rights describe what a change requires.
var rights = map[string]string{
	protocol.RightSession: "password", protocol.RightPassword: "password each time", protocol.RightNone: "file only",
}

func valueText(s protocol.Setting) string {
	text := s.Value
	if s.Type == protocol.SettingURLs {
		text = strings.Join(s.Values, " ")
	}
	switch {
	case text == "":
		text = "(none)"
	case s.Type == protocol.SettingPercent:
		text += " %"
	}
	if s.Pending {
		text += " (after a restart)"
	}
	return text
}

// printSetting prints all details of one setting.
func (t *terminal) printSetting(s protocol.Setting) {
	facts := [][2]string{{"value", valueText(s)}, {"from", strings.TrimSpace(s.Source + " " + s.Name)}}
	for _, f := range [][2]string{
		{"for", s.Description}, {"default", s.Default}, {"at least", s.Min}, {"at most", s.Max}, {"one of", strings.Join(s.Choices, ", ")},
		{"to change", rights[s.Requires]}, {"but", s.Refused}, {"applies", applies[s.TakesEffect]},
	} {
		if f[1] != "" {
			facts = append(facts, [2]string{f[0], f[1]})
		}
	}
	t.result.Title(s.Key)
	t.result.Facts(facts)
}

// applies describe when a change takes effect.
var applies = map[string]string{protocol.AppliesNow: "at once", protocol.AppliesRestart: "after swapkeep stop and the next start"}

func newSettingsSet(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set KEY VALUE...", Short: "Change one setting", ValidArgsFunction: t.complete(onlyFirst(completeSettings)),
		Example: "  swapkeep settings set keys.auto_lock 30m\n  swapkeep settings set networks.1.rpc https://rpc.example.org https://other.example.org",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exactly("a key and its value", 2)(cmd, args)
			}
			return nil
		},
	}
	password := passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		return l.setSetting(ctx, password, args[0], func(s protocol.Setting, p *protocol.SetParams) error {
			if s.Type == protocol.SettingURLs {
				p.Values = args[1:]
				return nil
			}
			p.Value = &args[1]
			return exactly("one value of that setting", 2)(cmd, args)
		})
	})
	return cmd
}

func newSettingsReset(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "reset KEY", Short: "Undo a change: use the file's value or the default again", Args: exactly("one key", 1), ValidArgsFunction: t.complete(onlyFirst(completeSettings)),
	}
	password := passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		return l.setSetting(ctx, password, args[0], func(_ protocol.Setting, p *protocol.SetParams) error {
			p.Reset = true
			return nil
		})
	})
	return cmd
}

// setSetting changes a setting, with a session or the password if it requires one.
func (l *daemonConn) setSetting(ctx context.Context, password *secretFlag, key string, fill func(protocol.Setting, *protocol.SetParams) error) error {
	known, err := ask[protocol.SettingsResult](ctx, l, "settings.get", protocol.SettingsParams{Keys: []string{key}})
	if err != nil {
		return err
	}
	if len(known.Settings) != 1 {
		return protocol.New("setting_unknown", "")
	}
	s, p := known.Settings[0], protocol.SetParams{Key: key}
	if err := fill(s, &p); err != nil {
		return err
	}
	change := func() error {
		return show(ctx, l, "settings.set", p, func(r protocol.SetResult) error {
			l.t.printSetting(r.Setting)
			return nil
		})
	}
	switch s.Requires {
	case protocol.RightSession:
		return l.withSession(ctx, password, change)
	case protocol.RightPassword:
		return l.t.withPassword(ctx, password, func(secret protocol.Secret) error {
			p.Password = secret
			return change()
		})
	}
	return change() // the daemon refuses a setting that cannot be changed here
}
