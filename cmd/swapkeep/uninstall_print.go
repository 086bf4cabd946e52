package main

import (
	"fmt"
	"strings"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/transport"
	"swapkeep/installer"
	"swapkeep/manifest"
)

// removalOutput is the output of uninstall --json.
type removalOutput struct {
	State string `json:"state"`
	*installer.Removal
	Wallet    *removedWallet `json:"wallet,omitempty"`          // that was removed, or would be
	Directory string         `json:"state_directory,omitempty"` // that was removed, or would be
	Home      string         `json:"home,omitempty"`            // the state directory if it stays
}

// removedWallet is a removed wallet. Without an id it is not known yet whether a wallet of
// that name exists.
type removedWallet struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
}

// removals describe the states of an uninstall.
var removals = map[string]string{
	planned:       "To be removed:",
	"uninstalled": "Swapkeep is uninstalled. Removed:",
	"stopped":     "Not everything could be removed. Removed:",
	nothing:       "Nothing is installed here by swapkeep install.",
}

func (t *terminal) printRemoval(said removalOutput, place transport.Instance) error {
	if said.State != "stopped" && said.Empty() && said.Wallet == nil && said.Directory == "" {
		said.State = nothing
	}
	if place.Home != "" && stateUsed(place) && said.Directory == "" {
		said.Home = place.Home
	}
	if t.json {
		return writeJSON(t.out, said)
	}
	t.result.Title(removals[said.State])
	if rows := removalRows(said); len(rows) > 0 {
		t.result.Table(make([]screen.Column, 2), rows)
	}
	if len(said.Kept) > 0 {
		t.result.Heading("Kept:")
	}
	for _, k := range said.Kept {
		t.result.Line("  " + strings.TrimSpace(k.Path+" "+k.Name) + " " + k.Reason)
	}
	if said.Home != "" {
		what := "Wallets and orders"
		if said.Wallet != nil {
			what = "Other wallets, and orders,"
		}
		how := "install it again, then uninstall with --wallet and --state"
		if said.State == planned {
			how = "give --wallet and --state"
		}
		t.result.Paragraph(screen.Faint, fmt.Sprintf("%s stay in %s and in the keychain. To remove them too, %s.", what, said.Home, how))
	}
	if said.Scope == manifest.System {
		t.result.Paragraph(screen.Faint, "Daemons of users keep running until they log out or run swapkeep stop.")
	}
	return nil
}

func removalRows(said removalOutput) (rows [][]string) {
	if w := said.Wallet; w != nil && w.ID != "" {
		rows = append(rows, []string{"  wallet", fmt.Sprintf("%s (%s) and its keys, permanently", w.Name, w.ID)})
	} else if w != nil {
		rows = append(rows, []string{"  wallet", w.Name + " and its keys, permanently, if it exists (no daemon is running to check)"})
	}
	for _, e := range said.Remove {
		rows = append(rows, []string{"  " + string(e.Kind), strings.TrimSpace(e.Path + " " + e.Name)})
	}
	if said.Directory != "" {
		rows = append(rows, []string{"  state directory", said.Directory})
	}
	return rows
}
