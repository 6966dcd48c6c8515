package main

import (
	"context"
	"os"

	"marquee/cmd/internal/app"
)

type workCommand struct{}

// Help lists the configuration.
func (workCommand) Help() string {
	return "Configuration is the environment:\n\n" + app.DescribeConfig()
}

// Run works until a signal comes, then finishes the jobs under way.
func (workCommand) Run(ctx context.Context) error {
	cfg, err := configured()
	if err != nil {
		return err
	}
	return app.Work(ctx, cfg, os.Stderr)
}
