package app

import (
	"context"
	"fmt"
	"log/slog"

	"marquee/modules/accounts"
	"marquee/platform/clock"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

// CreateUser is `marquee user create`: it needs the database alone.
func CreateUser(ctx context.Context, cfg Config, u accounts.NewUser) (made accounts.User, err error) {
	err = withAccounts(ctx, cfg, func(s *accounts.Service) error {
		if made, err = s.CreateUser(ctx, u); err != nil {
			return fmt.Errorf("create user: %w", err)
		}
		return nil
	})
	return made, err
}

// ResetSecondFactor is `marquee user mfa-reset`: it needs the database alone.
func ResetSecondFactor(ctx context.Context, cfg Config, login string) (u accounts.User, err error) {
	err = withAccounts(ctx, cfg, func(s *accounts.Service) error {
		u, err = s.ResetSecondFactor(ctx, login)
		return err
	})
	return u, err
}

// withAccounts does something with the users of a database.
func withAccounts(ctx context.Context, cfg Config, do func(*accounts.Service) error) error {
	pool, err := cfg.Database.openSession(ctx, postgres.Options{MaxConns: 2, ApplicationName: "marquee user"})
	if err != nil {
		return err
	}
	defer pool.Close()
	service, err := accounts.New(accounts.Deps{
		Pool: pool, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler),
		// Nothing is signed, sealed or mailed here; these keys are gone with the process.
		Config: accounts.Config{TokenKeys: "none:" + secret.Random(32), CodeKey: []byte(secret.Random(32))},
	})
	if err != nil {
		return err
	}
	return do(service)
}
