package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"marquee/modules/accounts"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
	"marquee/platform/replica"
)

// PrintOpenAPI writes the document that GET /api/v1/openapi.json answers.
func PrintOpenAPI(ctx context.Context, to io.Writer) error {
	api, err := UnservedAPI(ctx)
	if err != nil {
		return err
	}
	document, err := api.Document()
	if err != nil {
		return err
	}
	if _, err := to.Write(append(document, '\n')); err != nil {
		return fmt.Errorf("print the document: %w", err)
	}
	return nil
}

// UnservedAPI is the API with every operation and nothing behind it: its database is opened by
// whoever asks for it first, which nobody does.
func UnservedAPI(ctx context.Context) (*httpapi.API, error) {
	cfg, err := ReadConfig()
	if err != nil {
		return nil, err
	}
	if cfg.HTTP.PublicURL == "" {
		cfg.HTTP.PublicURL = "/"
	}
	cfg.Keys.File = strings.Repeat("-", minSecret)
	cfg.Keys.Tokens, cfg.Mail.SMTPURL = "none:"+cfg.Keys.File, "smtp://localhost"
	pool, err := postgres.NewPool(ctx, "postgres://localhost/none",
		postgres.Options{MaxConns: healthConns, ApplicationName: "marquee openapi", Lazy: true})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	log := slog.New(slog.DiscardHandler)
	observed, err := newObserved(cfg, "", log)
	if err != nil {
		return nil, err
	}
	a := &App{
		cfg: cfg, log: log, metrics: observed.registry, observed: observed,
		db: &database{pooled: pool, writes: pool, lists: pool, reads: replica.Only(pool), health: pool},
	}
	if err := a.build(false, accounts.PasswordCost{}); err != nil { //nolint:contextcheck // no request comes
		return nil, err
	}
	return a.api, nil
}
