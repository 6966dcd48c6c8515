package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"marquee/cmd/internal/app"
	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
)

type reconcileCommand struct {
	Since   string `required:"" help:"How far back to look: a day (2026-11-01, in REPORT_TZ), an instant (RFC 3339), or a duration such as 72h."`
	Gateway string `help:"gwa or gwb; default both." enum:"gwa,gwb," default:""`
	Apply   bool   `help:"Repair what is found, and let payments that could not be applied be refunded by themselves again after a restore. Without it the differences are listed and nothing changes."`
	DryRun  bool   `help:"List and change nothing, which is what happens without --apply." hidden:""`
	JSON    bool   `help:"Print the report as JSON."`
}

// Run compares and prints what it found; with --apply it lists first and repairs
// then. It fails when a gateway could not be asked to the end; what was found until
// then is printed all the same.
func (c *reconcileCommand) Run(ctx context.Context) error {
	cfg, err := configured()
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(cfg.Platform.ReportTZ)
	if err != nil {
		return fmt.Errorf("REPORT_TZ: %w", err)
	}
	since, err := sinceOf(c.Since, time.Now(), zone)
	if err != nil {
		return err
	}
	if c.Apply && c.DryRun {
		return errors.New("--apply and --dry-run contradict each other")
	}
	o := payments.ReconcileOptions{Since: since, DryRun: true}
	if c.Gateway != "" {
		o.Gateways = []gateway.Name{gateway.Name(c.Gateway)}
	}
	if err := c.run(ctx, cfg, o); err != nil || !c.Apply {
		return err
	}
	o.DryRun = false
	return c.run(ctx, cfg, o)
}

func (c *reconcileCommand) run(ctx context.Context, cfg app.Config, o payments.ReconcileOptions) error {
	report, failed := app.Reconcile(ctx, cfg, os.Stderr, o)
	if report == nil {
		return failed
	}
	var err error
	if c.JSON {
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
