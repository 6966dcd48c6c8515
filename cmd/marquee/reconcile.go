package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
)

// comparison is what the command line asks for.
type comparison struct {
	since, gateway      string
	apply, dryRun, json bool
}

func reconcileCommand() *cobra.Command {
	var o comparison
	c := leaf("reconcile", "Compare payments, refunds and disputes with the gateways and repair what no webhook told.", o.run)
	f := c.Flags()
	f.StringVar(&o.since, "since", "", "How far back to look: a day (2026-11-01, in REPORT_TZ), an instant (RFC 3339), "+
		"or a duration such as 72h. Required.")
	f.StringVar(&o.gateway, "gateway", "", "gwa or gwb; default both.")
	f.BoolVar(&o.apply, "apply", false, "Repair what is found, and let payments that could not be applied be refunded "+
		"by themselves again after a restore. Without it the differences are listed and nothing changes.")
	f.BoolVar(&o.dryRun, "dry-run", false, "List and change nothing, which is what happens without --apply.")
	f.BoolVar(&o.json, "json", false, "Print the report as JSON.")
	c.MarkFlagsMutuallyExclusive("apply", "dry-run")
	needs(c, "since")
	c.PreRunE = func(*cobra.Command, []string) error {
		if o.gateway != "" && !slices.Contains(gateway.Names(), gateway.Name(o.gateway)) {
			return fmt.Errorf("--gateway: %q is neither gwa nor gwb", o.gateway)
		}
		return nil
	}
	return c
}

// run compares and prints what it found; with --apply it lists first and repairs
// then. It fails when a gateway could not be asked to the end; what was found until
// then is printed all the same.
func (c *comparison) run(ctx context.Context) error {
	cfg, err := configured()
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(cfg.Platform.ReportTZ)
	if err != nil {
		return fmt.Errorf("REPORT_TZ: %w", err)
	}
	since, err := sinceOf(c.since, time.Now(), zone)
	if err != nil {
		return err
	}
	o := payments.ReconcileOptions{Since: since, DryRun: true, Starter: whoRuns()}
	if c.gateway != "" {
		o.Gateways = []gateway.Name{gateway.Name(c.gateway)}
	}
	if err := c.print(ctx, cfg, o); err != nil || !c.apply {
		return err
	}
	o.DryRun = false
	return c.print(ctx, cfg, o)
}

func (c *comparison) print(ctx context.Context, cfg app.Config, o payments.ReconcileOptions) error {
	report, failed := app.Reconcile(ctx, cfg, os.Stderr, o)
	if report == nil {
		return failed
	}
	var err error
	if c.json {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		err = printReport(os.Stdout, report)
	}
	if failed != nil {
		return failed
	}
	return err
}

// whoRuns names the account and the machine, as far as they are known.
func whoRuns() string {
	account, machine := os.Getenv("SUDO_USER"), "unknown machine"
	if who, err := user.Current(); err == nil && account == "" {
		account = who.Username
	}
	if host, err := os.Hostname(); err == nil {
		machine = host
	}
	name := []rune(cmp.Or(account, "unknown") + "@" + machine)
	return string(name[:min(len(name), 200)])
}

// sinceOf reads --since; it has to lie in the past.
func sinceOf(text string, now time.Time, zone *time.Location) (time.Time, error) {
	var since time.Time
	if d, err := time.ParseDuration(text); err == nil {
		since = now.Add(-d)
	} else if day, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		since = day
	} else if instant, err := time.Parse(time.RFC3339, text); err == nil {
		since = instant
	} else {
		return since, fmt.Errorf("--since: %q is not a day, instant or duration", text)
	}
	if !since.Before(now) {
		return since, fmt.Errorf("--since: %s is not in the past", since.Format(time.RFC3339))
	}
	return since.UTC(), nil
}

// printReport prints a line a finding and what was read.
func printReport(to io.Writer, r *payments.ReconcileReport) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	if len(r.Findings) > 0 {
		fmt.Fprintln(table, "GATEWAY\tFOUND\tAT THE GATEWAY\tHERE\tAMOUNT\tVERDICT\t")
	}
	for _, f := range r.Findings {
		amount := ""
		if f.Amount != 0 {
			amount = f.Amount.String()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.Gateway, f.Kind, f.ID, f.LocalID, amount, f.Verdict,
			f.Detail)
	}
	total := 0
	for _, n := range r.Counts {
		total += n
	}
	if more := total - len(r.Findings); more > 0 {
		fmt.Fprintf(table, "and %d more\n", more)
	}
	fmt.Fprintf(table,
		"since %s: %d events, %d objects and %d subscriptions read; %d differences, %d repaired, %d repairable, %d unknown, %d without change\n",
		r.Since.Format(time.RFC3339), r.Events, r.Objects, r.Asked, total,
		r.Verdicts[payments.Repaired], r.Verdicts[payments.Repairable], r.Verdicts[payments.Unknown],
		r.Verdicts[payments.Unchanged])
	return table.Flush()
}
