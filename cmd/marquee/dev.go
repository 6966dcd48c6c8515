package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
)

// devCommand runs everything until Ctrl-C.
func devCommand() *cobra.Command {
	o := app.DevOptions{Out: os.Stdout, Err: os.Stderr}
	c := leaf("dev", "Run everything on this machine, on a private Postgres and sandbox gateways.",
		func(ctx context.Context) error { return app.Dev(ctx, o) })
	f := c.Flags()
	f.StringVar(&o.Addr, "addr", "127.0.0.1:8080", "Loopback address of the API; port 0 takes a free one.")
	f.StringVar(&o.DataDir, "data-dir", "", "`DIR` where data is kept between starts.")
	f.BoolVar(&o.JSON, "json", false, "Print one line of JSON when ready; logs go to stderr.")
	f.BoolVar(&o.NoThrottle, "no-throttle", false,
		"Lift the limits per address and of unpaid places, for load and end-to-end tests.")
	return c
}
