package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
	"marquee/sql/invariants"
)

func doctorCommand() *cobra.Command {
	var asJSON bool
	c := leaf("doctor", "Check what must be true of the data; fails when something is not.",
		func(ctx context.Context) error { return doctor(ctx, asJSON) })
	c.Flags().BoolVar(&asJSON, "json", false, "Print the results as JSON.")
	return c
}

func doctor(ctx context.Context, asJSON bool) error {
	cfg, err := databaseOnly()
	if err != nil {
		return err
	}
	results, err := app.CheckInvariants(ctx, cfg)
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(results)
	} else {
		err = printResults(os.Stdout, results)
	}
	if broken := len(invariants.Broken(results)); err == nil && broken > 0 {
		err = fmt.Errorf("%d of %d invariants broken: see docs/operations.md", broken, len(results))
	}
	return err
}

// printResults prints a line an invariant, and under a broken one what breaks it.
func printResults(to io.Writer, results []invariants.Result) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, r := range results {
		state := "ok"
		if r.Findings > 0 {
			state = strconv.FormatInt(r.Findings, 10)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", state, r.Name, r.Meaning)
		for _, o := range r.Offenders {
			fmt.Fprintf(table, "\t  %s\t%s\n", o.ID, o.Detail)
		}
	}
	return table.Flush()
}
