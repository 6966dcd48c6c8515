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
func CreateUser(ctx context.Context, cfg Config, u accounts.NewUser) (accounts.User, error) {
	pool, err := cfg.Database.openSession(ctx, postgres.Options{MaxConns: 2, ApplicationName: "marquee user"})
	if err != nil {
		return accounts.User{}, err
	}
	defer pool.Close()
	service, err := accounts.New(accounts.Deps{
		Pool: pool, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler),
		// Nothing is signed or mailed here; these keys are gone with the process.
		Config: accounts.Config{TokenKeys: "none:" + secret.Random(32), CodeKey: []byte(secret.Random(32))},
	})
	if err != nil {
		return accounts.User{}, err
	}
	user, err := service.CreateUser(ctx, u)
	if err != nil {
		return accounts.User{}, fmt.Errorf("create user: %w", err)
	}
	return user, nil
}
