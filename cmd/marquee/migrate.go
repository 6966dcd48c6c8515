package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"marquee/migrations/schema"
)

func migrateCommand() *cobra.Command {
	return group("migrate", "Bring the database to the newest version, or back.",
		leaf("up", "Apply every migration that is missing.", migrateUp),
		leaf("down", "Take back the newest migration.", migrateDown),
		leaf("status", "List the migrations and whether the database has them.", migrateStatus),
	)
}

func migrateUp(ctx context.Context) error {
	address, err := sessionURL()
	if err != nil {
		return err
	}
	n, err := schema.Up(ctx, address, func(sentence string) { fmt.Fprintln(os.Stderr, sentence) })
	if err != nil {
		return err
	}
	fmt.Println("applied:", n)
	return nil
}

func migrateDown(ctx context.Context) error {
	address, err := sessionURL()
	if err != nil {
		return err
	}
	file, err := schema.Down(ctx, address)
	if err != nil {
		return err
	}
	fmt.Println("taken back:", file)
	return nil
}

func migrateStatus(ctx context.Context) error {
	address, err := sessionURL()
	if err != nil {
		return err
	}
	all, err := schema.List(ctx, address)
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
