// Command marquee is the whole platform: API, workers, migrations, and a
// complete machine for development.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
)

// usageStatus is the exit status when the command line is wrong, or asks for what this build is without.
const usageStatus = 2

// failure is an error of a command itself; all others that cobra returns are of the command line.
type failure struct{ error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command, err := group("marquee", "The backend of a video streaming platform with subscriptions and tickets.",
		serveCommand(), workCommand(), probeCommand(), devCommand(), sandboxCommand(), configCommand(),
		migrateCommand(), userCommand(), analystCommand(), seedCommand(), reconcileCommand(), gatewayCommand(),
		doctorCommand(), openAPICommand(), versionCommand(),
	).ExecuteContextC(ctx)
	failed, ran := errors.AsType[failure](err)
	if err == nil || ran && errors.Is(failed.error, context.Canceled) {
		return
	}
	fmt.Fprintln(os.Stderr, "marquee:", err)
	status := 1
	if !ran {
		fmt.Fprintf(os.Stderr, "Run \"%s --help\" for what it takes.\n", command.CommandPath())
		status = usageStatus
	} else if errors.Is(failed.error, app.ErrNoSandbox) {
		status = usageStatus
	}
	stop()
	os.Exit(status) //nolint:gocritic // stop has run
}

// group is a command of commands: by itself it shows them.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(commands...)
	return c
}

// leaf is a command that takes no arguments but flags.
func leaf(name, short string, run func(ctx context.Context) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: runs(func(ctx context.Context, _ []string) error { return run(ctx) }),
	}
}

// needs makes flags compulsory.
func needs(c *cobra.Command, flags ...string) {
	for _, f := range flags {
		if err := c.MarkFlagRequired(f); err != nil {
			panic(err) // there is no such flag
		}
	}
}

func runs(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if err := run(c.Context(), args); err != nil {
			return failure{err}
		}
		return nil
	}
}

// configured reads the configuration and insists that it is complete.
func configured() (app.Config, error) { return app.CheckedConfig() }

// databaseOnly reads the configuration for commands that need the database alone.
func databaseOnly() (app.Config, error) {
	cfg, err := app.ReadConfig()
	if err == nil && cfg.Database.URL == "" {
		err = errors.New("DATABASE_URL is missing: the Postgres connection string")
	}
	return cfg, err
}
