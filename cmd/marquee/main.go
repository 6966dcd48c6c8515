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

	"github.com/alecthomas/kong"

	"marquee/cmd/internal/app"
)

type commands struct {
	Serve     serveCommand     `cmd:"" help:"Answer the API. Run as many as wanted on one database."`
	Work      workCommand      `cmd:"" help:"Work the jobs: mails, recoveries, expiries. Run as many as wanted."`
	Dev       devCommand       `cmd:"" help:"Run everything on this machine, on a private Postgres and sandbox gateways."`
	Sandbox   sandboxCommand   `cmd:"" help:"Run both payment gateways in miniature, for anyone's tests."`
	Config    configCommand    `cmd:"" help:"Look at the configuration."`
	Migrate   migrateCommand   `cmd:"" help:"Bring the database to the newest version, or back."`
	User      userCommand      `cmd:"" help:"Create users."`
	Analyst   analystCommand   `cmd:"" help:"Let people read the figures in SQL."`
	Seed      seedCommand      `cmd:"" help:"Fill a database with the sample plans and catalogue."`
	Reconcile reconcileCommand `cmd:"" help:"Compare payments, refunds and disputes with the gateways and repair what no webhook told."`
	Gateway   gatewayCommand   `cmd:"" help:"Handle a suspect gateway."`
	Doctor    doctorCommand    `cmd:"" help:"Check what must be true of the data; fails when something is not."`
	Version   versionCommand   `cmd:"" help:"Print the version."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parser := kong.Must(&commands{},
		kong.Name("marquee"),
		kong.Description("The backend of a video streaming platform with subscriptions and tickets."),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.UsageOnError(),
	)
	command, err := parser.Parse(os.Args[1:])
	parser.FatalIfErrorf(err)
	if err := command.Run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "marquee:", err)
		stop()
		status := 1
		if errors.Is(err, app.ErrNoSandbox) {
			status = 2
		}
		os.Exit(status) //nolint:gocritic // stop has run
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
