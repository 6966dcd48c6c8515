package main

import (
	"context"
	"os"

	"marquee/cmd/internal/app"
)

type seedCommand struct{}

// Run fills the database with the sample data.
func (seedCommand) Run(ctx context.Context) error {
	cfg, err := configured()
	if err != nil {
		return err
	}
	return app.Seed(ctx, cfg, os.Stderr)
}
