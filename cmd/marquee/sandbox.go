package main

import (
	"context"
	"os"

	"marquee/cmd/internal/app"
)

type sandboxCommand struct {
	GWAAddr    string `name:"gwa-addr" default:"127.0.0.1:8081" help:"Loopback address of gateway A; port 0 takes a free one."`
	GWBAddr    string `name:"gwb-addr" default:"127.0.0.1:8082" help:"Loopback address of gateway B; port 0 takes a free one."`
	GWAWebhook string `name:"gwa-webhook" placeholder:"URL" help:"Where gateway A sends its events; they wait without."`
	GWBWebhook string `name:"gwb-webhook" placeholder:"URL" help:"Where gateway B sends its events; they wait without."`
	DataDir    string `placeholder:"DIR" help:"Where objects, clocks and waiting events are kept between starts; in memory alone without."`
	JSON       bool   `help:"Print one line of JSON when ready; logs go to stderr."`
}

// Run runs both gateways until Ctrl-C.
func (c *sandboxCommand) Run(ctx context.Context) error {
	return app.Sandbox(ctx, app.SandboxOptions{
		GWAAddr: c.GWAAddr, GWBAddr: c.GWBAddr, GWAWebhook: c.GWAWebhook, GWBWebhook: c.GWBWebhook,
		DataDir: c.DataDir, JSON: c.JSON, Out: os.Stdout, Err: os.Stderr,
	})
}
