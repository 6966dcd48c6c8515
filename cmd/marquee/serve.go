package main

import (
	"context"
	"os"

	"marquee/cmd/internal/app"
)

type serveCommand struct{}

// Help lists the configuration.
func (serveCommand) Help() string {
	return "Configuration is the environment:\n\n" + app.DescribeConfig()
}

// Run answers until a signal comes, then finishes what is under way.
func (serveCommand) Run(ctx context.Context) error {
	cfg, err := configured()
	if err != nil {
		return err
	}
	return app.Serve(ctx, cfg, os.Stderr)
}
