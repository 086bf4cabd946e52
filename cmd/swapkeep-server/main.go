// Command swapkeep-server has the hosted services of wallet vendors: the key proxy in
// front of the DEX provider, and the price API. Users do not install it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"swapkeep/internal/procmem"
)

// version is set by the linker.
var version = "dev"

func main() {
	if err := procmem.Protect(); err != nil { // memory contains the vendor's keys
		end(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		end(err)
	}
}

func end(err error) {
	fmt.Fprintln(os.Stderr, "swapkeep-server:", err)
	os.Exit(1)
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use: "swapkeep-server", Short: "Hosted services for wallet vendors", Version: version,
		SilenceUsage: true, SilenceErrors: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(proxyCommand(), pricesCommand(), tokenCommand(), healthyCommand())
	return root
}

func proxyCommand() *cobra.Command {
	var file string
	var sandbox bool
	c := &cobra.Command{
		Use: "proxy --config FILE", Short: "Forward wallets' requests to the DEX provider, adding the API key", Args: cobra.NoArgs,
		Long: `proxy forwards wallets' requests to the DEX provider and adds the API key, so that
wallets do not need it. It reads the key from ` + keyVariable + ` or from the
file that key_file names (mode 0600).

On SIGTERM it finishes running requests and stops. If systemd passes a socket
(LISTEN_FDS) it uses that, and a restart drops no request. On SIGHUP, and when
tokens_file changes, it reloads the installations' tokens.`,
		RunE: func(c *cobra.Command, _ []string) error {
			log := zerolog.New(os.Stderr).Level(zerolog.InfoLevel).With().Timestamp().Logger()
			return proxy(c.Context(), file, sandbox, log)
		},
	}
	c.Flags().StringVar(&file, "config", "", "configuration file (TOML)")
	c.Flags().BoolVar(&sandbox, "sandbox", false, "the provider is a simulator on this machine")
	if err := c.MarkFlagRequired("config"); err != nil {
		panic(err) // the flag is defined above
	}
	return c
}
