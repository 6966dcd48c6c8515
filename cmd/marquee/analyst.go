package main

import (
	"context"
	"fmt"

	"marquee/cmd/internal/app"
	"marquee/platform/fault"
)

type analystCommand struct {
	Create analystCreateCommand `cmd:"" help:"Make a login that reads the figures in SQL and nothing else, and print it. An existing login gets the limits it lacks and keeps its password."`
}

type analystCreateCommand struct {
	Name     string `arg:"" help:"Lower case letters, digits and _."`
	Personal bool   `help:"Reads the views with personal data too."`
}

// Run makes the login and prints it with its password, which is kept nowhere.
func (c *analystCreateCommand) Run(ctx context.Context) error {
	cfg, err := databaseOnly()
	if err != nil {
		return err
	}
	a, err := app.CreateAnalyst(ctx, cfg, c.Name, c.Personal)
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
