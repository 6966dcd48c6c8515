package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
)

// serveCommand answers until a signal comes, then finishes what is under way.
func serveCommand() *cobra.Command {
	c := leaf("serve", "Answer the API. Run as many as wanted on one database.", func(ctx context.Context) error {
		cfg, err := configured()
		if err != nil {
			return err
		}
		return app.Serve(ctx, cfg, os.Stderr)
	})
	c.Long = c.Short + "\n\nConfiguration is the environment:\n\n" + app.DescribeConfig()
	return c
}

// workCommand works until a signal comes, then finishes the jobs under way.
func workCommand() *cobra.Command {
	c := leaf("work", "Work the jobs: mails, recoveries, expiries. Run as many as wanted.", func(ctx context.Context) error {
		cfg, err := configured()
		if err != nil {
			return err
		}
		return app.Work(ctx, cfg, os.Stderr)
	})
	c.Long = c.Short + "\n\nConfiguration is the environment:\n\n" + app.DescribeConfig()
	return c
}
