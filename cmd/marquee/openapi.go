package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
)

// openAPICommand prints what clients are generated from.
func openAPICommand() *cobra.Command {
	return leaf("openapi", "Print the OpenAPI document of this build, as GET /api/v1/openapi.json answers it. "+
		"Needs no database, and of the configuration PUBLIC_URL alone.",
		func(ctx context.Context) error { return app.PrintOpenAPI(ctx, os.Stdout) })
}
