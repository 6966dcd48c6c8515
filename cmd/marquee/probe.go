package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
)

// probeCommand is for what starts processes and cannot ask GET /readyz itself: an image without a shell, a unit.
func probeCommand() *cobra.Command {
	var wait time.Duration
	c := &cobra.Command{
		Use: "probe {serve|work}", Short: "Ask this machine's serve or work whether it is ready.",
		Args: cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), ValidArgs: []string{"serve", "work"},
		RunE: runs(func(ctx context.Context, args []string) error {
			cfg, err := app.ReadConfig()
			if err != nil {
				return err
			}
			return app.AwaitReady(ctx, cfg, args[0], wait, os.Stdout)
		}),
	}
	c.Flags().DurationVar(&wait, "wait", 0, "How long to ask again until it is.")
	return c
}
