package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"

	"marquee/migrations/schema"
	"marquee/platform/telemetry"
)

// Serve is `marquee serve`: the API and, on its own address, the metrics.
func Serve(ctx context.Context, cfg Config, logs io.Writer) error {
	lines := telemetry.NewLineWriter(logs)
	defer func() { _ = lines.Close() }() // behind all that is logged at the end, and in a panic
	a, err := open(ctx, cfg, lines, false, "marquee-serve")
	if err != nil {
		return err
	}
	defer a.Close()
	listener, err := net.Listen("tcp", cfg.HTTP.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if _, err := a.modules.payments.Comparison().RefundsStopped(ctx, a.db.writes); err != nil { // which says so
		return err
	}
	a.log.Info("serving", slog.String("addr", listener.Addr().String()), slog.String("version", Version()))
	drained, stop := a.drain(ctx, cfg.HTTP.DrainDelay)
	defer stop()
	group, running := errgroup.WithContext(drained)
	told, end := context.WithCancel(context.WithoutCancel(ctx)) // operators, while requests under way finish
	group.Go(func() error {
		defer end()
		return a.serveAPI(running, listener, stopTime)
	})
	group.Go(func() error { return a.serveInside(told, cfg.HTTP.MetricsAddr) })
	group.Go(func() error { a.keepClock(told); return nil })
	return group.Wait()
}

// Work is `marquee work`: the jobs and, on an address for operators, the metrics.
func Work(ctx context.Context, cfg Config, logs io.Writer) error {
	a, err := open(ctx, cfg, logs, true, "marquee-work")
	if err != nil {
		return err
	}
	defer a.Close()
	if _, err := a.modules.payments.Comparison().RefundsStopped(ctx, a.db.writes); err != nil { // which says so
		return err
	}
	a.log.Info("working", slog.String("version", Version()))
	drained, stop := a.drain(ctx, 0) // nobody routes jobs here
	defer stop()
	group, running := errgroup.WithContext(drained)
	told, end := context.WithCancel(context.WithoutCancel(ctx)) // operators, while jobs under way finish
	group.Go(func() error {
		defer end()
		return a.work(running, stopTime)
	})
	group.Go(func() error {
		err := a.serveInside(told, cfg.HTTP.WorkMetricsAddr)
		if errors.Is(err, syscall.EADDRINUSE) {
			a.log.Error("this process tells operators nothing", slog.Any("error", err))
			return nil
		}
		return err
	})
	return group.Wait()
}

// open is New with a log and a name in traces, on a database that the program runs on.
func open(ctx context.Context, cfg Config, logs io.Writer, work bool, service string) (*App, error) {
	log, err := telemetry.NewLog(logs, cfg.Platform.LogLevel)
	if err != nil {
		return nil, err
	}
	standing, err := standingOf(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if n := len(standing.Unknown); n > 0 {
		log.Warn("the database is newer than this program, and is taken to run with it",
			slog.Int("unknown_migrations", n), slog.Int64("newest", slices.Max(standing.Unknown)))
	}
	return NewOf(ctx, cfg, log, work, Parts{Service: service})
}

// standingOf is how the database compares with this program; an error where it does not run on it.
func standingOf(ctx context.Context, cfg Config) (schema.Standing, error) {
	standing, err := schema.Compare(ctx, cmp.Or(cfg.Database.DirectURL, cfg.Database.URL))
	if err != nil {
		return standing, err
	}
	return standing, standing.Err()
}
