package main

import (
	"context"
	"os"

	"marquee/cmd/internal/app"
)

type seedCommand struct {
	Scale int `placeholder:"N" help:"Instead, fill a new database with N made-up subscriptions (such as 1000000) over three years, three payments each, and all that hangs on them: for measuring. Needs DATABASE_URL alone; other writers wait for it."`
}

// Run fills the database with the sample data, or with as many rows as wanted.
func (c seedCommand) Run(ctx context.Context) error {
	if c.Scale != 0 {
		cfg, err := databaseOnly()
		if err != nil {
			return err
		}
		return app.SeedScale(ctx, cfg, c.Scale, os.Stdout)
	}
	cfg, err := configured()
	if err != nil {
		return err
	}
	return app.Seed(ctx, cfg, os.Stderr)
}
