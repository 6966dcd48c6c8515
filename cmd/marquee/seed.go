package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
)

func seedCommand() *cobra.Command {
	var scale int
	c := leaf("seed", "Fill a database with the sample plans and catalogue.",
		func(ctx context.Context) error { return seed(ctx, scale) })
	c.Flags().IntVar(&scale, "scale", 0, "Instead, fill a new database with `N` made-up subscriptions (such as "+
		"1000000) over three years, three payments each, and all that hangs on them: for measuring. Needs "+
		"DATABASE_URL alone; other writers wait for it.")
	return c
}

// seed fills the database with the sample data, or with as many rows as wanted.
func seed(ctx context.Context, scale int) error {
	if scale != 0 {
		cfg, err := databaseOnly()
		if err != nil {
			return err
		}
		return app.SeedScale(ctx, cfg, scale, os.Stdout)
	}
	cfg, err := configured()
	if err != nil {
		return err
	}
	return app.Seed(ctx, cfg, os.Stderr)
}
