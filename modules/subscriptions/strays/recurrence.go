package strays

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments"
	"marquee/modules/payments/gateway"
	"marquee/modules/subscriptions/internal/subscriptionsdb"
	"marquee/modules/subscriptions/state"
	"marquee/platform/fault"
	"marquee/platform/faultpoint"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// strayBrake is how many recurrences of a gateway that name ids which are not known here
// may end by themselves: more are not strays, but rows that this database has lost.
const strayBrake = 5

// listNamedTx lists, for people, money that names an id of ours which is not known here, of
// a gateway's customer who is not known either; theirs it is whom it names, where they live.
// What charged it is to end at the gateway.
func (s *Strays) listNamedTx(ctx context.Context, tx pgx.Tx, a StrayMoneyArgs, p gateway.Payment) error {
	known, err := s.deps.Payments.FindPayment(ctx, tx, a.Gateway, p.ID)
	if err != nil || known != nil {
		return err
	}
	customer, err := s.namedCustomer(ctx, tx, p)
	if err != nil {
		return err
	}
	note := "It names " + a.Reference.String() +
		", which is not known here, as after a restore of an older database; " + payments.NoCustomer + ", " +
		a.CustomerID + "."
	if customer != "" {
		note = strings.Replace(note, payments.NoCustomer, payments.ItsCustomer, 1)
	}
	if p.SubscriptionGatewayID != "" {
		note += " Recurrence " + p.SubscriptionGatewayID + " charged it."
	}
	_, err = s.deps.Payments.Cases().RecordUnappliedTx(ctx, tx, payments.Unapplied{
		Kind: payments.UnappliedUnknown, Reference: a.Reference, Note: note, GatewayCustomerID: a.CustomerID,
	}.Of(gateway.Owner{Gateway: a.Gateway, CustomerID: customer}, p))
	if err != nil || p.SubscriptionGatewayID == "" {
		return err
	}
	mayLack, err := s.deps.Payments.Comparison().MayLack(ctx, tx, p.SettledAt)
	if err != nil {
		return err
	}
	err = s.db.StrayRecurrenceInsert(ctx, tx, subscriptionsdb.StrayRecurrenceInsertParams{
		Gateway: a.Gateway, RecurrenceID: p.SubscriptionGatewayID, Reference: a.Reference, PaymentID: p.ID,
		Held: mayLack, Now: s.deps.Clock.Now(),
	})
	if err != nil {
		return fmt.Errorf("note stray recurrence: %w", err)
	}
	return nil
}

// namedCustomer is the customer of ours whom a payment of gateway B names; "" of one who is
// not here, or deleted.
func (s *Strays) namedCustomer(ctx context.Context, db postgres.DB, p gateway.Payment) (objectid.ID, error) {
	if p.LocalCustomerID == "" {
		return "", nil
	}
	found, err := s.deps.Accounts.CustomersByID(ctx, db, []objectid.ID{p.LocalCustomerID})
	if err != nil {
		return "", fmt.Errorf("find the customer of %s: %w", p.ID, err)
	}
	return found[p.LocalCustomerID].ID, nil
}

// ConfirmStrays confirms that the recurrences listed so far, which name one of our
// ids, are to end: a person has run `marquee reconcile --apply`. After a restore the
// first such run confirms nothing: it lists what a further one ends.
func (s *Strays) ConfirmStrays(ctx context.Context, o payments.ReconcileOptions) error {
	if stopped, err := s.deps.Payments.Comparison().RefundsStopped(ctx, s.deps.Pool); err != nil || stopped {
		return err
	}
	var of []string
	for _, gateway := range gateway.Names() {
		if o.Of(gateway) {
			of = append(of, string(gateway))
		}
	}
	err := s.db.StrayRecurrenceConfirm(ctx, s.deps.Pool, s.deps.Clock.Now(), of)
	if err != nil {
		return fmt.Errorf("confirm stray recurrences: %w", err)
	}
	return nil
}

// EndStrays ends at the gateways the recurrences that name one of our ids but belong to
// no row. Those found after a restore, and many at once, wait until a person has
// confirmed them, and the operators hear of it once.
func (s *Strays) EndStrays(ctx context.Context) error {
	open, err := s.db.StrayRecurrenceListOpen(ctx, s.deps.Pool)
	if err != nil {
		return fmt.Errorf("list stray recurrences: %w", err)
	}
	if len(open) == 0 {
		return nil
	}
	stopped, err := s.deps.Payments.Comparison().RefundsStopped(ctx, s.deps.Pool)
	if err != nil {
		return err
	}
	suspect, err := s.deps.Intents.Health().Suspect(ctx, s.deps.Pool)
	if err != nil {
		return err
	}
	var waiting []subscriptionsdb.StrayRecurrence
	var failed error
	for _, r := range open {
		switch {
		case needsConfirmation(open, r):
			waiting = append(waiting, r)
		case !stopped && !slices.Contains(suspect, string(r.Gateway)):
			failed = errors.Join(failed, s.endNamed(ctx, r))
		}
	}
	return errors.Join(failed, s.notifyStrays(ctx, waiting))
}

// needsConfirmation reports whether a recurrence ends only once it is confirmed.
func needsConfirmation(open []subscriptionsdb.StrayRecurrence, r subscriptionsdb.StrayRecurrence) bool {
	if r.ConfirmedAt != nil {
		return false
	}
	n := 0
	for _, other := range open {
		if other.Gateway == r.Gateway && other.ConfirmedAt == nil {
			n++
		}
	}
	return r.Held || n > strayBrake
}

// endNamed ends one, unless a row owns it by now or an admin has kept its charge. It is
// read live before; what is not known ends nothing, and is asked again by the next sweep.
func (s *Strays) endNamed(ctx context.Context, r subscriptionsdb.StrayRecurrence) error {
	name := r.Gateway
	outcome, err := s.isOwnedOrDismissed(ctx, r)
	if err == nil && outcome == "" {
		outcome, err = state.StrayEnded, s.endRecurrence(ctx, name, r)
	}
	if err != nil {
		return err
	}
	err = s.db.StrayRecurrenceEnd(context.WithoutCancel(ctx), s.deps.Pool, subscriptionsdb.StrayRecurrenceEndParams{
		Gateway: r.Gateway, RecurrenceID: r.RecurrenceID, Outcome: &outcome, Now: new(s.deps.Clock.Now()),
	})
	if err != nil {
		return fmt.Errorf("note the end of recurrence %s: %w", r.RecurrenceID, err)
	}
	return nil
}

func (s *Strays) isOwnedOrDismissed(ctx context.Context,
	r subscriptionsdb.StrayRecurrence,
) (outcome state.Stray, err error) {
	_, err = s.deps.Locator.LocateRemote(ctx, s.deps.Pool, r.Gateway, r.RecurrenceID)
	if !errors.Is(err, pgx.ErrNoRows) {
		return state.StrayOwned, err
	}
	closed, err := s.deps.Payments.Cases().IsClosedByAdmin(ctx, s.deps.Pool, r.Gateway, r.PaymentID)
	if err == nil && closed {
		outcome = state.StrayKept
	}
	return outcome, err
}

func (s *Strays) endRecurrence(ctx context.Context, name gateway.Name, r subscriptionsdb.StrayRecurrence) error {
	gw, err := s.deps.Payments.Gateway(name)
	if err != nil {
		return err
	}
	remote, err := gw.ReadSubscription(ctx, r.RecurrenceID, r.Reference)
	if err != nil && !errors.Is(err, gateway.ErrMissing) { // one read ends nothing: what is missing is deleted, too
		return fmt.Errorf("read recurrence %s: %w", r.RecurrenceID, err)
	}
	if err == nil && remote.Status.Ended() && !remote.Inactive {
		return nil
	}
	s.deps.Log.WarnContext(ctx, "recurrence that names an id which is not known here is ended at the gateway",
		slog.String("gateway", string(r.Gateway)),
		slog.String("recurrence_id", r.RecurrenceID), slog.String("reference", r.Reference.String()))
	if err := gw.CancelSubscription(ctx, r.RecurrenceID, r.Reference); err != nil {
		return fmt.Errorf("end recurrence %s: %w", r.RecurrenceID, err)
	}
	faultpoint.Hit("stray.after_call")
	return nil
}

// notifyStrays writes to the operators, once a recurrence, what waits for a person.
func (s *Strays) notifyStrays(ctx context.Context, waiting []subscriptionsdb.StrayRecurrence) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		var lines strings.Builder
		mailed := 0
		for _, r := range waiting {
			n, err := s.db.StrayRecurrenceMarkMailed(ctx, tx, subscriptionsdb.StrayRecurrenceMarkMailedParams{
				Now: new(s.deps.Clock.Now()), Gateway: r.Gateway, RecurrenceID: r.RecurrenceID,
			})
			if err != nil {
				return fmt.Errorf("tell of stray recurrence: %w", err)
			}
			if n > 0 {
				mailed++
				fmt.Fprintf(&lines, "%s %s names %s\n", r.Gateway, r.RecurrenceID, r.Reference)
			}
		}
		if mailed == 0 {
			return nil
		}
		s.deps.Log.ErrorContext(ctx,
			"recurrences charge that name ids which are not known here: nothing is ended by itself",
			slog.Int("recurrences", mailed))
		subject := fault.Count(mailed, "recurrence") + " that nobody here owns"
		return s.deps.Operators.NotifyTx(ctx, tx, subject, fmt.Sprintf(
			"Found charging customers at the gateways: %s, with ids that this database does not know, most likely because it was restored from an older backup.\n"+
				"They go on charging; none is ended by itself.\n\n%s\nList them by `marquee reconcile --since`; what was listed before is ended by `--apply`. See docs/operations.md, \"Recurrences that nobody owns\".\n",
			fault.Count(mailed, "recurrence"), lines.String()))
	})
}

// ReconcileStrays lists the recurrences that name one of our ids but belong to no row;
// a run that is not dry ends those that do not wait for a confirmation.
func (s *Strays) ReconcileStrays(ctx context.Context, o payments.ReconcileOptions,
	report *payments.ReconcileReport,
) error {
	before, err := s.db.StrayRecurrenceListOpen(ctx, s.deps.Pool)
	if err != nil {
		return fmt.Errorf("list stray recurrences: %w", err)
	}
	var failed error
	left := before
	if !o.DryRun && len(before) > 0 {
		failed = s.EndStrays(ctx)
		if left, err = s.db.StrayRecurrenceListOpen(ctx, s.deps.Pool); err != nil {
			return errors.Join(failed, fmt.Errorf("list stray recurrences: %w", err))
		}
	}
	for _, r := range before {
		if !o.Of(r.Gateway) {
			continue
		}
		f := payments.Finding{
			Gateway: r.Gateway, Kind: payments.StrayRecurrence, ID: r.RecurrenceID, LocalID: r.Reference,
			Verdict: payments.Repairable,
			Detail:  "charges, and names an id that is not known here: to be ended at the gateway",
		}
		if !o.DryRun {
			f.Verdict = payments.Repaired
			if slices.ContainsFunc(left,
				func(l subscriptionsdb.StrayRecurrence) bool {
					return l.Gateway == r.Gateway && l.RecurrenceID == r.RecurrenceID
				}) {
				f.Verdict, f.Detail = payments.Unchanged, f.Detail+" by the next --apply"
			}
		}
		report.Add(ctx, f)
	}
	return failed
}
