package app

import (
	"context"
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"marquee/modules/tickets"
)

// Metrics are what the process tells of itself.
func (a *App) Metrics() *prometheus.Registry { return a.metrics }

// Tickets is the module.
func (a *App) Tickets() *tickets.Service { return a.modules.tickets }

// ServeAPI answers as `marquee serve` does.
func (a *App) ServeAPI(ctx context.Context, listener net.Listener) error {
	return a.serveAPI(ctx, listener, stopTime)
}
