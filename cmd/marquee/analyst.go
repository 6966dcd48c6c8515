package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
	"marquee/platform/fault"
)

func analystCommand() *cobra.Command {
	var personal bool
	create := &cobra.Command{
		Use: "create NAME [flags]",
		Short: "Make a login that reads the figures in SQL and nothing else, and print it. " +
			"An existing login gets the limits it lacks and keeps its password.",
		Args: cobra.ExactArgs(1),
		RunE: runs(func(ctx context.Context, args []string) error { return createAnalyst(ctx, args[0], personal) }),
	}
	create.Flags().BoolVar(&personal, "personal", false, "Reads the views with personal data too.")
	return group("analyst", "Let people read the figures in SQL.", create)
}

// createAnalyst makes the login and prints it with its password, which is kept nowhere.
func createAnalyst(ctx context.Context, name string, personal bool) error {
	cfg, err := databaseOnly()
	if err != nil {
		return err
	}
	a, err := app.CreateAnalyst(ctx, cfg, name, personal)
	if err != nil {
		return err
	}
	fmt.Println("login    ", a.Name)
	if a.Password != "" {
		fmt.Println("password ", a.Password)
	}
	if a.URL != "" {
		fmt.Println("connect  ", a.URL)
	}
	for _, setting := range a.Settings {
		fmt.Println("set      ", setting)
	}
	if len(a.Left) == 0 {
		return nil
	}
	fmt.Println("\nThe login is made. What keeps it, and every other one, from writing temporary tables, tables and large objects, and from taking the locks that the product takes, has to be run by an administrator of the server, in this database:")
	fmt.Println()
	for _, statement := range a.Left {
		fmt.Println(statement)
	}
	return fmt.Errorf("%s left to an administrator", fault.Count(len(a.Left), "statement"))
}
