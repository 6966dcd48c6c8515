package app

import (
	"context"
	"net"
	"net/http"
	"reflect"

	"github.com/prometheus/client_golang/prometheus"

	"marquee/modules/tickets"
)

// Metrics are what the process tells of itself.
func (a *App) Metrics() *prometheus.Registry { return a.metrics }

// Handler is all that the process answers on its address.
func (a *App) Handler() http.Handler { return a.handler() }

// Tickets is the module.
func (a *App) Tickets() *tickets.Service { return a.modules.tickets }

// JobKinds are the kinds of jobs that have a worker, in no order. River keeps its list of them to itself.
func (a *App) JobKinds() (kinds []string) {
	client := reflect.ValueOf(a.jobs).Elem()
	workers := client.FieldByName("config").Elem().FieldByName("Workers").Elem()
	for _, kind := range workers.FieldByName("workersMap").MapKeys() {
		kinds = append(kinds, kind.String())
	}
	return kinds
}

// ServeAPI answers as `marquee serve` does.
func (a *App) ServeAPI(ctx context.Context, listener net.Listener) error {
	return a.serveAPI(ctx, listener, stopTime)
}
