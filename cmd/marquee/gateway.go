package main

import (
	"context"
	"os"

	"marquee/cmd/internal/app"
)

type gatewayCommand struct {
	Trust gatewayTrustCommand `cmd:"" help:"Lift the mark of a suspect gateway: what is missing there is looked at twice more, an hour apart, and then ends."`
}

type gatewayTrustCommand struct {
	Gateway string `arg:"" help:"gwa or gwb." enum:"gwa,gwb"`
}

// Run lifts the mark; one that is not set is left alone.
func (c *gatewayTrustCommand) Run(ctx context.Context) error {
	cfg, err := configured()
	if err != nil {
		return err
	}
	return app.TrustGateway(ctx, cfg, os.Stderr, c.Gateway)
}
