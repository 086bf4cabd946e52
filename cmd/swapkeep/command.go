package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"swapkeep/config"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

// errUsage: the arguments or the configuration are wrong.
var errUsage = errors.New("wrong usage")

// usageError carries the words for it.
type usageError struct{ error }

func (usageError) Is(target error) bool { return target == errUsage }
func (e usageError) Unwrap() error      { return e.error }

// answerTime bounds what a command waits for one answer.
const answerTime = 15 * time.Second

// A terminal is where a command writes, and how.
type terminal struct {
	out, err io.Writer
	json     bool
	home     string
	config   string
}

// newRoot builds the command line.
func newRoot(out, err io.Writer) *cobra.Command {
	t := &terminal{out: out, err: err}
	root := &cobra.Command{
		Use:           "swapkeep",
		Short:         "A wallet's keys and swaps, outside the browser",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usageError{fmt.Errorf("unknown command %q; see swapkeep help", args[0])}
		},
	}
	root.SetOut(out)
	root.SetErr(err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	flags := root.PersistentFlags()
	flags.BoolVar(&t.json, "json", false, "write JSON")
	flags.StringVar(&t.home, "home", "", "state directory (default $"+transport.HomeVariable+", else the system's)")
	flags.StringVar(&t.config, "config", "", "configuration file (default $SWAPKEEP_CONFIG, else the system's)")
	root.AddCommand(newVersion(t), newStatus(t), newStop(t), newManifest(t))
	return root
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, not %q", cmd.CommandPath(), args[0])}
	}
	return nil
}

// commandKnown tells whether arguments are for the command line at all.
func commandKnown(root *cobra.Command) func([]string) bool {
	return func(args []string) bool {
		switch args[0] {
		case "help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd, "-h", "--help", "-v", "--version":
			return true
		}
		cmd, _, err := root.Find(args)
		return err == nil && cmd != root
	}
}

func runCommand(root *cobra.Command, args []string) int {
	root.SetArgs(args)
	err := root.Execute()
	var told toldError
	if err != nil && !errors.As(err, &told) {
		complain(root, err)
	}
	return exitOf(err)
}

// toldError is an error whose words are written already.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }

// complain writes an error and its remedy, as a line or as JSON.
func complain(root *cobra.Command, err error) {
	wire, remedy := wireOf(err), ""
	if asJSON, _ := root.PersistentFlags().GetBool("json"); asJSON {
		_ = writeJSON(root.ErrOrStderr(), map[string]any{"error": wire})
		return
	}
	if errors.As(err, new(*protocol.Error)) {
		fmt.Fprintf(root.ErrOrStderr(), "swapkeep: %s (%s)\n", wire.Message, wire.Name)
		remedy = wire.Remedy
	} else {
		fmt.Fprintln(root.ErrOrStderr(), "swapkeep:", err)
	}
	if remedy != "" {
		fmt.Fprintln(root.ErrOrStderr(), "  what to do:", remedy)
	}
}

// wireOf is any error in the form of the protocol's. One that never crossed
// the wire has a name of its own and no code.
func wireOf(err error) *protocol.Error {
	var wire *protocol.Error
	if errors.As(err, &wire) {
		return wire
	}
	_, name := localClass(err)
	return &protocol.Error{Name: name, Message: err.Error()}
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// load reads the configuration, flags last.
func (t *terminal) load() (config.Config, error) {
	env := os.Environ()
	if t.home != "" {
		env = append(env, transport.HomeVariable+"="+t.home)
	}
	if t.config != "" {
		env = append(env, "SWAPKEEP_CONFIG="+t.config)
	}
	cfg, err := config.Load(env)
	if err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}

func (t *terminal) place() (transport.Place, error) {
	cfg, err := t.load()
	if err != nil {
		return transport.Place{}, err
	}
	return placeOf(cfg)
}
