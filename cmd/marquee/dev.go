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
	f.StringVar(&o.Films, "films", "", "`DIR` of further films to serve beside the sample film, each in a directory of its name.")
	f.BoolVar(&o.NoThrottle, "no-throttle", false,
		"Lift the limits per address and of unpaid places, for load and end-to-end tests.")
	return c
}

// sandboxCommand runs both gateways until Ctrl-C.
func sandboxCommand() *cobra.Command {
	o := app.SandboxOptions{Out: os.Stdout, Err: os.Stderr}
	c := leaf("sandbox", "Run both payment gateways in miniature, for anyone's tests.",
		func(ctx context.Context) error { return app.Sandbox(ctx, o) })
	f := c.Flags()
	f.StringVar(&o.GWAAddr, "gwa-addr", "127.0.0.1:8081", "Loopback address of gateway A; port 0 takes a free one.")
	f.StringVar(&o.GWBAddr, "gwb-addr", "127.0.0.1:8082", "Loopback address of gateway B; port 0 takes a free one.")
	f.StringVar(&o.GWAWebhook, "gwa-webhook", "", "`URL` to which gateway A sends its events; they wait without.")
	f.StringVar(&o.GWBWebhook, "gwb-webhook", "", "`URL` to which gateway B sends its events; they wait without.")
	f.StringVar(&o.DataDir, "data-dir", "",
		"`DIR` where objects, clocks and waiting events are kept between starts; in memory alone without.")
	f.BoolVar(&o.JSON, "json", false, "Print one line of JSON when ready; logs go to stderr.")
	return c
}
