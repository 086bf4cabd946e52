package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

func newStatus(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the daemon's health, its connections and its problems",
		Long:  "Show the daemon's health, its connections and its problems. It does not start the daemon; exit status 3 means that it is not running.",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return t.status(cmd.Context()) },
	}
}

func (t *terminal) status(ctx context.Context) error {
	place, err := t.place()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c, _, err := dialDaemon(ctx, place)
	if notRunning(err) {
		return t.sayNotRunning(place.Home, err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	var status protocol.StatusResult
	if err := c.Call(ctx, "host.status", nil, &status); err != nil {
		return err
	}
	if t.json {
		return writeJSON(t.out, status)
	}
	return t.table(status)
}

func (t *terminal) sayNotRunning(home string, err error) error {
	why := owner.StartProblem(transport.Instance{Home: home})
	if t.json {
		said := map[string]string{"state": "not running", "directory": home}
		if why != "" {
			said["reason"] = why
		}
		return printedWith(err, writeJSON(t.out, said))
	}
	_, wrote := fmt.Fprintf(t.out, "swapkeepd is not running (state directory %s)\n", screen.Printable(home))
	if why != "" && wrote == nil {
		_, wrote = fmt.Fprintf(t.out, "  it cannot start: %s\n", screen.Printable(why))
	}
	return printedWith(err, wrote)
}

func printedWith(err, wrote error) error {
	if wrote != nil {
		return wrote
	}
	return printedError{err}
}

func (t *terminal) table(s protocol.StatusResult) error {
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	if s.Banner != "" {
		fmt.Fprintf(w, "%s\n", s.Banner)
	}
	fmt.Fprintf(w, "daemon\t%s, pid %d, version %s, since %s\n", s.State, s.PID, s.Version, s.Started.Local().Format(time.DateTime))
	fmt.Fprintf(w, "state directory\t%s\n", screen.Printable(s.Directory))
	fmt.Fprintf(w, "keys\t%s\n", s.Keys)
	fmt.Fprintf(w, "active network\t%d\n", s.Network)
	fmt.Fprintf(w, "open orders\t%d\n", s.OpenOrders)
	fmt.Fprintf(w, "prices\t%s\n", printable(pricesText(s.Prices)))
	for _, c := range s.Connections {
		from := c.Kind
		if c.Origin != c.Kind { // a terminal has no other name
			from += " " + printable(c.Origin)
		}
		fmt.Fprintf(w, "connection\t%s, version %s, since %s\n", from, printable(c.Version), c.Since.Local().Format(time.DateTime))
	}
	for _, p := range s.Problems {
		message, remedy := inWords(&protocol.Error{Name: p.Name, Message: p.Message, Remedy: p.Remedy})
		fmt.Fprintf(w, "problem\t%s\n", screen.Printable(fmt.Sprintf("%s: %s; %s", p.Name, message, remedy)))
	}
	return w.Flush()
}

// printable quotes another program's text if it could control the terminal.
func printable(s string) string {
	quoted := fmt.Sprintf("%+q", s)
	if quoted == `"`+s+`"` {
		return s
	}
	return quoted
}

// pricesText describes the state of the price service.
func pricesText(p protocol.PricesStatus) string {
	said := []string{"not fetched yet"}
	if !p.Fetched.IsZero() {
		said[0] = "fetched at " + clockTime(p.Fetched)
	}
	if p.Tokens > 0 {
		said = append(said, fmt.Sprintf("%d tokens", p.Tokens))
	}
	if p.Stale > 0 {
		said = append(said, fmt.Sprintf("%d of them stale", p.Stale))
	}
	if len(p.Sources) > 0 {
		said = append(said, "without answer ("+strings.Join(slices.Sorted(maps.Keys(p.Sources)), ", ")+")")
	}
	if p.URL != "" {
		said = append(said, "documentation at "+p.URL+"/docs")
	}
	return strings.Join(said, ", ")
}
