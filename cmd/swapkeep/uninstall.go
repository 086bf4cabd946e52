package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/installer"
	"swapkeep/manifest"
)

// An uninstallation is what the flags of swapkeep uninstall say.
type uninstallation struct {
	scope    *scopeFlags
	wallet   string
	confirm  string
	password *secretFlag
	home     string
	dryly    bool
}

func newUninstall(t *terminal) *cobra.Command {
	var un uninstallation
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take back what swapkeep install did",
		Long: "Take back what swapkeep install did: exactly what it wrote down, and of that only what nobody changed since; the rest\n" +
			"is listed and stays. The daemon is stopped first. Wallets and orders stay, unless they are named: --wallet removes a\n" +
			"wallet and its keys for good, and --state, once no wallet is left, the state directory. API keys in the keychain go by\n" +
			"swapkeep providers set-key --forget, while there is a wallet.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := atMostOne(cmd, "user", "system"); err != nil {
				return err
			}
			return t.uninstall(cmd.Context(), un)
		},
	}
	un.scope = scopesOf(cmd)
	flags := cmd.Flags()
	flags.StringVar(&un.wallet, "wallet", "", "also remove this `wallet`, by name or id, and its keys for good")
	flags.StringVar(&un.confirm, "confirm", "", "the wallet's `id` again, instead of a question")
	un.password = passwordFlag(flags)
	flags.StringVar(&un.home, "state", "", "also remove the state directory, named by its `path`: the orders and what was chosen")
	flags.BoolVar(&un.dryly, "dry-run", false, "only show what would be removed")
	return cmd
}

// removalSaid is what uninstall --json writes.
type removalSaid struct {
	State string `json:"state"`
	*installer.Removal
	Home string `json:"home,omitempty"` // the state directory, which stays
}

func (t *terminal) uninstall(ctx context.Context, un uninstallation) error {
	m := thisMachine()
	removal, err := installer.PlanRemoval(m, un.scope.scope())
	if err != nil {
		return err
	}
	place, err := t.installedPlace(un)
	if err != nil {
		return err
	}
	if un.dryly {
		return t.tellRemoval(removal, planned, place)
	}
	if err := t.endInstance(ctx, un, place); err != nil {
		return err
	}
	removal.BeforeFolders = func() error { return endState(ctx, un, place) }
	removed, err := installer.Remove(ctx, m, removal)
	removal.Remove = removed
	if err != nil {
		return errors.Join(err, t.tellRemoval(removal, "stopped", place))
	}
	if un.home != "" {
		if err := removeStateFolder(place); err != nil {
			return err
		}
	}
	return t.tellRemoval(removal, "uninstalled", place)
}

// installedPlace is the instance whose daemon is stopped. Those of an installation for
// all users are their users'.
func (t *terminal) installedPlace(un uninstallation) (transport.Place, error) {
	if un.scope.system {
		if un.wallet != "" || un.home != "" {
			return transport.Place{}, usageError{errors.New("wallets and state directories are each user's: run swapkeep uninstall --user as that user")}
		}
		return transport.Place{}, nil
	}
	place, err := t.place()
	if err == nil && un.home != "" && un.home != place.Home {
		err = usageError{fmt.Errorf("--state is %q, and the state directory is %s: name that", un.home, place.Home)}
	}
	return place, err
}

// endInstance removes the wallet that was named, and stops the daemon.
func (t *terminal) endInstance(ctx context.Context, un uninstallation, place transport.Place) error {
	if place.Home == "" {
		return nil
	}
	if un.wallet != "" || un.home != "" && stateUsed(place) {
		if err := t.endWallets(ctx, un); err != nil {
			return err
		}
	}
	_, err := stopped(ctx, place)
	return err
}

// endState stops a daemon that a browser started meanwhile, and removes the state
// directory's files if that was asked for: by then nothing is left that starts another.
func endState(ctx context.Context, un uninstallation, place transport.Place) error {
	if place.Home == "" {
		return nil
	}
	if _, err := stopped(ctx, place); err != nil || un.home == "" {
		return err
	}
	return removeState(place)
}

// endWallets removes the wallet that was named, and refuses to go on to the state
// directory while there is another: its keys would be lost, or left in the keychain
// without anything that knows of them.
func (t *terminal) endWallets(ctx context.Context, un uninstallation) error {
	l, err := t.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	if un.wallet != "" {
		err := l.toRemove(ctx, un.wallet, un.confirm, un.password, func(params protocol.RemoveParams) error {
			_, err := ask[protocol.WalletResult](ctx, l, "keys.remove", params)
			return err
		})
		if err != nil {
			return err
		}
	}
	if un.home == "" {
		return nil
	}
	status, err := ask[protocol.KeysStatus](ctx, l, "keys.status", protocol.None{})
	if err != nil {
		return err
	}
	if len(status.Wallets) > 0 {
		return usageError{fmt.Errorf("the wallet %s is in that state directory: remove it first with --wallet %[1]s", status.Wallets[0].Name)}
	}
	return nil
}

// removals are the states of an uninstall in words.
var removals = map[string]string{
	planned:       "This would be removed:",
	"uninstalled": "Swapkeep is uninstalled. This was removed:",
	"stopped":     "Not all could be removed. This was:",
	nothing:       "Nothing is installed here by swapkeep install.",
}

func (t *terminal) tellRemoval(r *installer.Removal, state string, place transport.Place) error {
	if r.Empty() {
		state = nothing
	}
	home := ""
	if place.Home != "" && stateUsed(place) {
		home = place.Home
	}
	if t.json {
		return writeJSON(t.out, removalSaid{state, r, home})
	}
	t.result.Title(removals[state])
	rows := make([][]string, 0, len(r.Remove))
	for _, e := range r.Remove {
		rows = append(rows, []string{"  " + string(e.Kind), strings.TrimSpace(e.Path + " " + e.Name)})
	}
	if len(rows) > 0 {
		t.result.Table(make([]screen.Column, 2), rows)
	}
	if len(r.Kept) > 0 {
		t.result.Heading("This stays:")
	}
	for _, k := range r.Kept {
		t.result.Line("  " + strings.TrimSpace(k.Path+" "+k.Name) + " " + k.Reason)
	}
	if home != "" {
		t.result.Words(screen.Faint, fmt.Sprintf("Wallets and orders stay in %s and in the keychain.", home))
	}
	if r.Scope == manifest.System {
		t.result.Words(screen.Faint, "Daemons that users started run on until they log out or run swapkeep stop.")
	}
	return nil
}
