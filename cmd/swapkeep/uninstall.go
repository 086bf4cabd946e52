package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/installer"
)

// An uninstallFlags is the flags of swapkeep uninstall.
type uninstallFlags struct {
	scope    *scopeFlags
	wallet   string
	confirm  string
	password *secretFlag
	home     string
	dryRun   bool
}

func newUninstall(t *terminal) *cobra.Command {
	var un uninstallFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Undo swapkeep install",
		Long: "Undo swapkeep install. Only recorded changes are undone, and only if nobody has changed them since; everything else\n" +
			"is listed and stays. The daemon is stopped first. Wallets and orders stay unless you name them: --wallet permanently\n" +
			"removes a wallet and its keys; --state, once no wallet is left, removes the state directory and what is left in the\n" +
			"keychain.",
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
	flags.StringVar(&un.wallet, "wallet", "", "also permanently remove this `wallet`, by name or id, and its keys")
	flags.StringVar(&un.confirm, "confirm", "", "the wallet's `id` again, instead of a question")
	un.password = passwordFlag(flags)
	flags.StringVar(&un.home, "state", "", "also remove the state directory with this `path`: orders and settings")
	flags.BoolVar(&un.dryRun, "dry-run", false, "only show what would be removed")
	return cmd
}

func (t *terminal) uninstall(ctx context.Context, un uninstallFlags) error {
	m := t.machine()
	place, err := installedPlace(m, un)
	if err != nil {
		return err
	}
	if un.dryRun {
		return t.dryRunUninstall(ctx, m, un, place)
	}
	unlock, err := m.Lock(ctx, un.scope.scope())
	if err != nil {
		return err
	}
	defer unlock()
	removal, err := installer.PlanRemoval(m, un.scope.scope())
	if err != nil {
		return err
	}
	said := removalOutput{State: "uninstalled", Removal: removal}
	if !removal.Empty() || un.removesData() { // otherwise a running daemon belongs to another copy
		if said.Wallet, err = t.stopAndRemoveWallet(ctx, un, place); err != nil {
			return err
		}
		used := stateUsed(place)
		removal.BeforeFolders = func() error {
			err := t.stopAndRemoveState(ctx, un, place)
			if err != nil && said.Wallet != nil {
				err = fmt.Errorf("%w, without --wallet: that one is removed", err)
			}
			if err == nil && un.home != "" && used {
				said.Directory = place.Home
			}
			return err
		}
	}
	removal.Remove, err = installer.Remove(ctx, m, removal)
	if err != nil {
		said.State = "stopped"
		return errors.Join(err, t.printRemoval(said, place))
	}
	if un.home != "" {
		if err = removeStateFolder(place); err != nil {
			err = fmt.Errorf("%w; all else is uninstalled: remove that folder yourself", err)
		}
	}
	return errors.Join(t.printRemoval(said, place), err)
}

// dryRunUninstall shows what an uninstall would remove, without removing it.
func (t *terminal) dryRunUninstall(ctx context.Context, m installer.Machine, un uninstallFlags, place transport.Instance) error {
	removal, err := installer.PlanRemoval(m, un.scope.scope())
	if err != nil {
		return err
	}
	said := removalOutput{State: planned, Removal: removal}
	if un.home != "" && stateUsed(place) {
		said.Directory = place.Home
	}
	if un.wallet != "" || said.Directory != "" {
		if said.Wallet, err = t.walletToBeRemoved(ctx, un, place); err != nil {
			return err
		}
	}
	return t.printRemoval(said, place)
}

// walletToBeRemoved returns the wallet that an uninstall would remove, as the running daemon knows
// it. It starts no daemon, which would create a state directory and repair the
// installation.
func (t *terminal) walletToBeRemoved(ctx context.Context, un uninstallFlags, place transport.Instance) (*removedWallet, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c, _, err := dialDaemon(ctx, place)
	if notRunning(err) {
		if un.wallet == "" {
			return nil, nil
		}
		return &removedWallet{Name: un.wallet}, nil
	}
	if err != nil {
		return nil, err
	}
	l := &daemonConn{Client: c, t: t}
	defer func() { _ = l.Close() }()
	var ends *removedWallet
	if un.wallet != "" {
		w, err := l.walletToRemove(ctx, un.wallet)
		if err != nil {
			return nil, err
		}
		ends = &removedWallet{w.ID, w.Name}
	}
	return ends, l.requireNoOtherWallet(ctx, un, ends)
}

// removesData reports whether a wallet or the state directory is to be removed too.
func (un uninstallFlags) removesData() bool { return un.wallet != "" || un.home != "" }

// installedPlace returns the home whose daemon is stopped. With the system scope it is
// empty, because daemons belong to users. The configuration is not read, so that a
// damaged one does not prevent an uninstall.
func installedPlace(m installer.Machine, un uninstallFlags) (transport.Instance, error) {
	if un.scope.system {
		if un.removesData() {
			return transport.Instance{}, usageError{errors.New("wallets and state directories belong to each user; run swapkeep uninstall --user as that user")}
		}
		return transport.Instance{}, nil
	}
	home, err := transport.DefaultHome(m.Env)
	if err == nil && un.home != "" && filepath.Clean(un.home) != home {
		err = usageError{fmt.Errorf("--state is %q, and the state directory is %s: name that", un.home, home)}
	}
	return transport.Instance{Home: home}, err
}

// stopAndRemoveWallet removes the named wallet and stops the daemon.
func (t *terminal) stopAndRemoveWallet(ctx context.Context, un uninstallFlags, place transport.Instance) (ended *removedWallet, err error) {
	if place.Home == "" {
		return nil, nil
	}
	if un.wallet != "" || un.home != "" && stateUsed(place) {
		if ended, err = t.removeWallet(ctx, un, place); err != nil {
			return nil, err
		}
	}
	_, err = ensureStopped(ctx, place, handoverTime)
	return ended, err
}

// stopAndRemoveState stops a daemon that a browser has started in the meantime, and removes the
// files of the state directory if asked to: by then nothing can start another.
func (t *terminal) stopAndRemoveState(ctx context.Context, un uninstallFlags, place transport.Instance) error {
	if place.Home == "" {
		return nil
	}
	err := t.clearKeysAgain(ctx, un, place)
	if err == nil {
		_, err = ensureStopped(ctx, place, handoverTime)
	}
	if err == nil && un.home != "" {
		err = removeState(place)
	}
	if err != nil {
		return fmt.Errorf("%w; fix this, then run the same swapkeep uninstall again", err)
	}
	return nil
}

// clearKeysAgain clears the keychain again if a browser has started another daemon in the
// meantime. If that daemon has added a wallet, this fails and the state directory stays.
func (t *terminal) clearKeysAgain(ctx context.Context, un uninstallFlags, place transport.Instance) error {
	if un.home == "" {
		return nil
	}
	dialing, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c, _, err := dialDaemon(dialing, place)
	if notRunning(err) || errors.Is(err, errSilent) { // a starting or exiting daemon has added nothing
		return nil
	}
	if err != nil {
		return err
	}
	l := &daemonConn{Client: c, t: t}
	defer func() { _ = l.Close() }()
	return l.clearKeys(ctx)
}

// removeWallet removes the named wallet. If the state directory is to be removed, any other
// wallet is an error: its keys would be lost, or left in the keychain with nothing that
// knows of them.
func (t *terminal) removeWallet(ctx context.Context, un uninstallFlags, place transport.Instance) (ended *removedWallet, err error) {
	l, err := t.dial(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the daemon's program is gone: unpack swapkeep anew and run its bin/swapkeep uninstall as now", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	if un.wallet != "" {
		err := l.confirmAndRemove(ctx, un.wallet, un.confirm, un.password, func(params protocol.RemoveParams) error {
			removed, err := ask[protocol.WalletResult](ctx, l, "keys.remove", params)
			ended = &removedWallet{removed.Wallet.ID, removed.Wallet.Name}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if un.home == "" {
		return ended, nil
	}
	if err := l.requireNoOtherWallet(ctx, un, nil); err != nil {
		return nil, err
	}
	return ended, errors.Join(l.clearKeys(ctx), checkNoKeyFiles(place))
}

// clearKeys makes the daemon remove what the keychain holds without any wallet.
// Afterwards the daemon accepts no wallet.
func (l *daemonConn) clearKeys(ctx context.Context) error {
	_, err := ask[protocol.None](ctx, l, "keys.clear", protocol.None{})
	return err
}

// requireNoOtherWallet returns an error if the state directory is to be removed and has another
// wallet than goes.
func (l *daemonConn) requireNoOtherWallet(ctx context.Context, un uninstallFlags, goes *removedWallet) error {
	if un.home == "" {
		return nil
	}
	status, err := ask[protocol.KeysStatus](ctx, l, "keys.status", protocol.None{})
	if err != nil {
		return err
	}
	for _, w := range status.Wallets {
		if goes == nil || w.ID != goes.ID {
			return usageError{fmt.Errorf("the wallet %s is in that state directory: remove it first with --wallet %[1]s", w.Name)}
		}
	}
	return nil
}
