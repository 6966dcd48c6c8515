package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
)

func gatewayCommand() *cobra.Command {
	return group("gateway", "Handle a suspect gateway.", &cobra.Command{
		Use: "trust gwa|gwb",
		Short: "Lift the mark of a suspect gateway: what is missing there is looked at twice more, an hour apart, " +
			"and then ends.",
		Args: cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), ValidArgs: []string{"gwa", "gwb"},
		RunE: runs(trustGateway),
	})
}

// trustGateway lifts the mark; one that is not set is left alone.
func trustGateway(ctx context.Context, args []string) error {
	cfg, err := configured()
	if err != nil {
		return err
	}
	return app.TrustGateway(ctx, cfg, os.Stderr, args[0])
}
