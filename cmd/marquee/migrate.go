package main

import (
	"context"
	"fmt"
	"os"

	"marquee/migrations/schema"
)

type migrateCommand struct {
	Up     migrateUpCommand     `cmd:"" help:"Apply every migration that is missing."`
	Down   migrateDownCommand   `cmd:"" help:"Take back the newest migration."`
	Status migrateStatusCommand `cmd:"" help:"List the migrations and whether the database has them."`
}

type (
	migrateUpCommand     struct{}
	migrateDownCommand   struct{}
	migrateStatusCommand struct{}
)

// Run applies what is missing.
func (migrateUpCommand) Run(ctx context.Context) error {
	cfg, err := databaseOnly()
	if err != nil {
		return err
	}
	n, err := schema.Up(ctx, cfg.Database.URL, func(sentence string) { fmt.Fprintln(os.Stderr, sentence) })
	if err != nil {
		return err
	}
	fmt.Println("applied:", n)
	return nil
}

// Run takes one back.
func (migrateDownCommand) Run(ctx context.Context) error {
	cfg, err := databaseOnly()
	if err != nil {
		return err
	}
	file, err := schema.Down(ctx, cfg.Database.URL)
	if err != nil {
		return err
	}
	fmt.Println("taken back:", file)
	return nil
}

// Run lists all.
func (migrateStatusCommand) Run(ctx context.Context) error {
	cfg, err := databaseOnly()
	if err != nil {
		return err
	}
	all, err := schema.List(ctx, cfg.Database.URL)
	if err != nil {
		return err
	}
	for _, m := range all {
		state := "pending"
		if m.Applied {
			state = "applied"
		}
		fmt.Printf("%-8s %s\n", state, m.File)
	}
	return nil
}
