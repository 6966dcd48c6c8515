package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/modules/payments/state"
	"marquee/modules/payments/webhook"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// missedEvent is an event that a gateway has and we have not.
type missedEvent struct {
	body  json.RawMessage
	event gateway.Event
}

// missedOf picks from a gateway's events those that mean something here and never
// came.
func (s *Reconciler) missedOf(ctx context.Context, gw gateway.Adapter,
	bodies []json.RawMessage,
) ([]missedEvent, error) {
	var all []missedEvent
	ids := []string{}
	for _, body := range bodies {
		e, err := gw.ReadEvent(body)
		if err != nil || e.ID == "" || e.Payload == nil {
			continue
		}
		e.Gateway = gw.Name()
		e.ReceivedAt(s.deps.Clock.Now())
		all, ids = append(all, missedEvent{body: body, event: e}), append(ids, e.ID)
	}
	known, err := s.db.ProcessedEventListKnown(ctx, s.deps.Pool,
		paymentsdb.ProcessedEventListKnownParams{Gateway: gw.Name(), EventIds: ids})
	if err != nil {
		return nil, fmt.Errorf("look for events: %w", err)
	}
	came := map[string]bool{}
	for _, id := range known {
		came[id] = true
	}
	missed := all[:0]
	for _, m := range all {
		if !came[m.event.ID] {
			missed = append(missed, m)
		}
	}
	return missed, nil
}

// namedFirst puts events that tell single refunds before the one that adds them up: they
// alone say which of them the platform has asked for.
func namedFirst(missed []missedEvent) []missedEvent {
	ordered, taken := make([]missedEvent, 0, len(missed)), make([]bool, len(missed))
	for i, m := range missed {
		if total, ok := m.event.Payload.(gateway.RefundChange); ok && len(total.Report.Singles) == 0 {
			for k := i + 1; k < len(missed); k++ {
				r, ok := missed[k].event.Payload.(gateway.RefundChange)
				if ok && len(r.Report.Singles) > 0 && r.Report.PaymentID == total.Report.PaymentID && !taken[k] {
					ordered, taken[k] = append(ordered, missed[k]), true
				}
			}
		}
		if !taken[i] {
			ordered = append(ordered, m)
		}
	}
	return ordered
}

// takeMissed receives an event that was fetched, logs it and applies it, as if it
// had been delivered: a delivery that follows is a repetition.
func (s *Reconciler) takeMissed(ctx context.Context, gw gateway.Adapter, m missedEvent, dryRun bool) (Finding, error) {
	f := Finding{Gateway: gw.Name(), Kind: MissedEvent, ID: m.event.ID, Detail: m.event.Type}
	var was Finding
	// Tried first also by a run that is not dry: what it is about has to be known before it changes.
	result, _, err := s.tryEvent(ctx, m.event, nil, true)
	if dryRun && err != nil {
		return f, fmt.Errorf("try event %s: %w", f.ID, err)
	}
	if !dryRun {
		if was, err = s.before(ctx, m.event, localOf(result)); err != nil {
			return f, err
		}
		response, err := s.webhooks.Receive(ctx, gw, m.body, "", s.deps.Clock.Now())
		if err != nil {
			return f, fmt.Errorf("take event %s: %w", f.ID, err)
		}
		result = response.Result
	}
	f.Verdict = verdict(result, dryRun)
	f.LocalID = localOf(result)
	if result.Reason != "" {
		f.Detail += ": " + string(result.Reason)
	}
	if f.Verdict == Repaired {
		err = s.after(ctx, m.event, &f, was)
	}
	return f, err
}

func verdict(r gateway.Result, dryRun bool) Verdict {
	switch {
	case r.Taken && dryRun:
		return Repairable
	case r.Taken:
		return Repaired
	case r.Unclaimed:
		return Unknown
	case r.Status != gateway.ResultApplied:
		return Unchanged
	case dryRun:
		return Repairable
	}
	return Repaired
}

func localOf(r gateway.Result) objectid.ID {
	if r.SubscriptionID == nil {
		return ""
	}
	return *r.SubscriptionID
}

// describe begins the finding about a reconciled event: its ID is the gateway's, of what the
// event is about.
func describe(e gateway.Event) Finding {
	f := Finding{Gateway: e.Gateway}
	switch p := e.Payload.(type) {
	case gateway.DisputeChange:
		f.Kind, f.ID, f.Amount, f.Detail = MissedDispute, p.Report.ID, p.Report.Amount, string(p.Report.State)
	case gateway.RefundChange:
		f.Kind, f.ID, f.Amount = MissedRefund, p.Report.PaymentID, p.Report.Total
		for _, single := range p.Report.Singles {
			if !p.Report.HasTotal {
				f.Amount += single.Amount
				f.Detail = string(single.Status)
			}
		}
	default:
		paid, _ := e.Payment()
		f.Kind, f.ID, f.Amount = MissedPayment, paid.ID, paid.Amount
	}
	return f
}

// reconcileObject compares one thing with the ledgers and applies it when they
// do not know it. Found is false when they do.
func (s *Reconciler) reconcileObject(ctx context.Context, gw gateway.Adapter, e gateway.Event,
	dryRun bool,
) (f Finding, found bool, err error) {
	f = describe(e)
	known, err := s.reader.Knows(ctx, s.deps.Pool, e)
	if err != nil || known {
		return f, false, err
	}
	if nameless, is := e.Payload.(gateway.NamelessPayment); is {
		alone, err := standsAlone(ctx, gw, nameless.Payment)
		if err != nil || !alone {
			return f, false, err
		}
		e.Payload = gateway.SettledPayment(nameless)
	}
	link, err := s.webhooks.MissingLink(ctx, gw, e)
	if err != nil {
		return f, false, fmt.Errorf("find the invoice of %s: %w", f.ID, err)
	}
	result, now, err := s.tryEvent(ctx, e, link, true)
	if err == nil && !result.Unclaimed { // what other systems take in the same account is no matter of ours
		if err := s.confirm(ctx, gw, e); err != nil {
			return f, false, fmt.Errorf("read %s, which a list told: %w", f.ID, err)
		}
	}
	var was Finding
	if err == nil && !dryRun {
		if was, err = s.before(ctx, e, localOf(result)); err == nil {
			result, now, err = s.tryEvent(ctx, e, link, false)
		}
	}
	if err != nil {
		return f, false, fmt.Errorf("apply %s of %s: %w", e.Kind(), f.ID, err)
	}
	f.LocalID, f.Verdict = localOf(result), verdict(result, dryRun)
	switch {
	case result.Taken:
		f.Detail = strings.TrimSpace(f.Detail + " " + string(result.Reason))
	case result.Unclaimed:
		why := " of nothing that is known here"
		if e.NamesOurs() {
			why = " " + string(gateway.ReasonNamesLost)
		}
		f.Detail = strings.TrimSpace(f.Detail + why)
		if !dryRun {
			err = s.listUnknown(ctx, e)
		}
	case now: // the ledger has it, also where nothing else followed
		f.Verdict = verdict(gateway.Result{Status: gateway.ResultApplied}, dryRun)
		f.Detail = strings.TrimSpace(f.Detail + " " + string(result.Reason))
	default:
		f.Verdict = Unchanged
		f.Detail = strings.TrimSpace(f.Detail + " " + string(result.Reason))
	}
	if err == nil && f.Verdict == Repaired {
		err = s.after(ctx, e, &f, was)
	}
	return f, err == nil, err
}

// standsAlone asks whether no invoice is behind money that names nothing, which would tell
// itself what it is for: it is a payment like any other that nothing here knows.
func standsAlone(ctx context.Context, gw gateway.Adapter, p gateway.Payment) (bool, error) {
	if gateway.IsCharge(p.ID) {
		return true, nil
	}
	invoice, err := gw.InvoiceOf(ctx, p.ID)
	if err != nil {
		return false, fmt.Errorf("find the invoice of %s: %w", p.ID, err)
	}
	return invoice == "", nil
}

// unknownAfter is how long money may be told before the row that it is for.
const unknownAfter = time.Hour

// listUnknown puts money that nothing here knows, but whose customer or reference is
// ours, on the list of unapplied payments. All else that enters the account of gateway
// A is somebody else's affair.
func (s *Reconciler) listUnknown(ctx context.Context, e gateway.Event) error {
	paid, settled := e.Payload.(gateway.SettledPayment)
	p := paid.Payment
	if !settled || p.Amount == 0 || p.SettledAt == nil || p.SettledAt.After(s.deps.Clock.Now().Add(-unknownAfter)) {
		return nil
	}
	var customer objectid.ID
	if s.deps.Accounts != nil && e.CustomerID != "" {
		var err error
		if customer, err = s.deps.Accounts.CustomerOfGateway(ctx, s.deps.Pool, string(e.Gateway),
			e.CustomerID); err != nil {
			return fmt.Errorf("find the customer of %s: %w", p.ID, err)
		}
	}
	if customer == "" && e.Purpose == "" {
		return nil
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		_, err := s.cases.RecordUnappliedTx(ctx, tx, ledger.Unapplied{
			Kind: state.UnappliedUnknown, Gateway: e.Gateway, PaymentID: p.ID, Amount: &p.Amount, CustomerID: customer,
			PaidAt:            p.SettledAt,
			Note:              "Reconciliation found it at the gateway, and nothing here that it is for.",
			GatewayCustomerID: e.CustomerID,
		})
		return err
	})
}

// tryEvent applies an event in a transaction of its own, which a dry run takes
// back. Now tells whether the ledgers know it by then.
func (s *Reconciler) tryEvent(ctx context.Context, e gateway.Event, link *webhook.InvoiceLink,
	dryRun bool,
) (result gateway.Result, now bool, err error) {
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if e.LogID == "" {
			e.LogID = objectid.At(s.deps.Clock.Now())
		}
		if err := s.webhooks.LinkTx(ctx, tx, link); err != nil {
			return err
		}
		if result, err = s.webhooks.ApplyTx(ctx, tx, e); err != nil {
			return err
		}
		if now, err = s.reader.Knows(ctx, tx, e); err != nil {
			return err
		}
		if dryRun {
			return webhook.ErrDryRun
		}
		return nil
	})
	if errors.Is(err, webhook.ErrDryRun) {
		err = nil
	}
	return result, now, err
}

// confirm reads by its id what a list has told and the ledgers do not know: a row of a
// list that carries another object's id would be booked beside the true one.
func (s *Reconciler) confirm(ctx context.Context, gw gateway.Adapter, e gateway.Event) error {
	switch p := e.Payload.(type) {
	case gateway.DisputeChange:
		if e.Gateway.Traits().Invoices {
			all, err := gw.ListDisputes(ctx, refOf(p.Report.PaymentID, p.Report.ChargeID))
			known := slices.ContainsFunc(all, func(d gateway.DisputeReport) bool { return d.ID == p.Report.ID })
			return confirmed(known, err)
		}
		_, err := gw.ReadPayment(ctx, p.Report.PaymentID, "")
		return err
	case gateway.RefundChange:
		if !p.Report.HasTotal {
			return confirmSingles(ctx, gw, p.Report)
		}
		if !e.Gateway.Traits().Invoices {
			_, err := gw.ReadPayment(ctx, p.Report.PaymentID, "")
			return err
		}
	default:
	}
	if p, ok := e.Payment(); ok && !gateway.IsCharge(p.ID) {
		_, err := gw.ReadPayment(ctx, p.ID, "")
		return err
	}
	return nil
}

// confirmSingles reads refunds that were told one by one.
func confirmSingles(ctx context.Context, gw gateway.Adapter, report gateway.RefundReport) error {
	all, err := gw.ListRefunds(ctx, refOf(report.PaymentID, report.ChargeID))
	for _, single := range report.Singles {
		known := slices.ContainsFunc(all, func(r gateway.RemoteRefund) bool { return r.ID == single.ID })
		if err := confirmed(known, err); err != nil {
			return err
		}
	}
	return err
}

// refOf names a payment by its key among refunds: an intent, else the charge.
func refOf(paymentID, chargeID string) gateway.PaymentRef {
	if paymentID == chargeID {
		return gateway.PaymentRef{ChargeID: chargeID}
	}
	return gateway.PaymentRef{PaymentIntentID: paymentID, PaymentID: paymentID}
}

func confirmed(known bool, err error) error {
	if err == nil && !known {
		return fmt.Errorf("%w: a list told what is not there", gateway.ErrUnavailable)
	}
	return err
}
