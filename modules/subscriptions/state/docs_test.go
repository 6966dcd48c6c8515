package state_test

import (
	"fmt"
	"strings"
	"testing"

	"marquee/modules/subscriptions/state"
	"marquee/testutil/golden"
)

const page = "../../../docs/subscription-states.md"

// The page for people shows the table: each action, why the history says that it moved, and
// where it leads. The diagram is drawn from the same moves.
func TestPageShowsTheTable(t *testing.T) {
	t.Parallel()
	var all []golden.Move
	for _, from := range append([]state.Status{state.None}, state.Statuses...) {
		for _, by := range state.Actions {
			all = append(all, moves(from, by)...)
		}
	}
	golden.Section(t, page, "the diagram of moves", golden.Diagram(all))
	golden.Section(t, page, "the table of moves", table())
}

// What becomes of the orders beside a subscription.
func TestPageShowsTheTablesOfOrders(t *testing.T) {
	t.Parallel()
	golden.Section(t, page, "the moves of a retry", golden.Table(t, state.Retries,
		state.RetryPlanned, state.RetryOrdered, state.RetryRefused, state.RetryPaid, state.RetryDropped))
	golden.Section(t, page, "the moves of an order to move", golden.Table(t, state.Moves,
		state.MoveOpen, state.MoveDone, state.MoveRefused, state.MoveVoid))
	golden.Section(t, page, "the moves of a renewal charge", golden.Table(t, state.Charges,
		state.ChargeOpen, state.ChargePaid, state.ChargeUnapplied, state.ChargeGone))
	pauses := []state.Pause{state.Pausing, state.Paused, state.Resuming, state.Resumed, state.PauseVoid}
	golden.Section(t, page, "the moves of a pause",
		golden.Diagram(golden.Moves(t, state.Pauses, pauses...))+"\n"+golden.Table(t, state.Pauses, pauses...))
}

func moves(from state.Status, by state.Action) []golden.Move {
	to, ok := state.Next(from, by)
	if !ok {
		return nil
	}
	return []golden.Move{{From: string(from), By: string(by), To: string(to)}}
}

func table() string {
	var b strings.Builder
	b.WriteString("| action | reason | from → to |\n|---|---|---|\n")
	for _, by := range state.Actions {
		var arrows []string
		for _, from := range append([]state.Status{state.None}, state.Statuses...) {
			for _, m := range moves(from, by) {
				arrows = append(arrows, m.Arrow())
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", by, reasons(by), strings.Join(arrows, ", "))
	}
	return b.String()
}

// reasons are what the history may say, by what is known of the row.
func reasons(by state.Action) string {
	var all []string
	for _, k := range []state.Known{
		{Status: state.Active},
		{Status: state.Pending},
		{Status: state.Active, CancelAtPeriodEnd: true},
		{Status: state.Active, PaymentFailures: 1},
		{Status: state.Active, HasChargeback: true},
	} {
		reason := "`" + string(state.ReasonFor(by, k)) + "`"
		if reason != "``" && !strings.Contains(strings.Join(all, " "), reason) {
			all = append(all, reason)
		}
	}
	return strings.Join(all, ", ")
}
