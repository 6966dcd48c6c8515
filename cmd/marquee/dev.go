package main

import (
	"context"
	"os"

	"marquee/cmd/internal/app"
)

type devCommand struct {
	Addr       string `default:"127.0.0.1:8080" help:"Loopback address of the API; port 0 takes a free one."`
	DataDir    string `placeholder:"DIR" help:"Where data is kept between starts."`
	JSON       bool   `help:"Print one line of JSON when ready; logs go to stderr."`
	NoThrottle bool   `help:"Lift the limits per address and of unpaid places, for load and end-to-end tests."`
}

// Run runs everything until Ctrl-C.
func (c *devCommand) Run(ctx context.Context) error {
	return app.Dev(ctx, app.DevOptions{
		Addr: c.Addr, DataDir: c.DataDir, JSON: c.JSON, NoThrottle: c.NoThrottle, Out: os.Stdout, Err: os.Stderr,
	})
}
