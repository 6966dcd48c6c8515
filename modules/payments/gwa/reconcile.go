package gwa

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"marquee/modules/payments/gateway"
)

const (
	// refundable is how far back payments may be given back or disputed.
	refundable = 90 * 24 * time.Hour
	// quotaReserve of the account's 25,000 calls in 12 hours is left for customers: a
	// reconciliation stops when fewer are left.
	quotaReserve = 5000
)

// lists are the steps of a reconciliation. The gateway tells no list of what
// happened, only of payments: those made since, those paid or due since that were
// made before (a subscription's are made 40 days ahead), and those of older making
// whose status says that money went back.
var lists = []func(g *lister, since, now time.Time) url.Values{
	func(g *lister, since, _ time.Time) url.Values {
		return url.Values{"dateCreated[ge]": {day(since, g.cfg.Zone)}}
	},
	func(g *lister, since, _ time.Time) url.Values {
		return url.Values{"paymentDate[ge]": {day(since, g.cfg.Zone)}, "dateCreated[le]": {g.dayBefore(since)}}
	},
	func(g *lister, since, now time.Time) url.Values {
		return url.Values{
			"dueDate[ge]": {day(since, g.cfg.Zone)}, "dueDate[le]": {day(now, g.cfg.Zone)},
			"dateCreated[le]": {g.dayBefore(since)},
		}
	},
	olderOf("REFUNDED"), olderOf("CHARGEBACK_REQUESTED"), olderOf("CHARGEBACK_DISPUTE"),
	olderOf("AWAITING_CHARGEBACK_REVERSAL"),
}

func olderOf(status string) func(g *lister, since, now time.Time) url.Values {
	return func(g *lister, since, _ time.Time) url.Values {
		return url.Values{
			"status": {status}, "dateCreated[ge]": {day(since.Add(-refundable), g.cfg.Zone)},
			"dateCreated[le]": {g.dayBefore(since)},
		}
	}
}

func (g *lister) dayBefore(t time.Time) string {
	return day(t.In(g.cfg.Zone).AddDate(0, 0, -1), g.cfg.Zone)
}

// CreatedSince reads the lists one after the other, a hundred payments a page. A
// refund in part of a payment made before since is told by no list: a longer
// since finds it. The error is ErrUnavailable when so little of the quota is left
// that customers need it.
func (g *lister) CreatedSince(ctx context.Context, since time.Time, page string) ([]gateway.Event, string, error) {
	if left, known := g.quota.left(g.cfg.Clock.Now()); known && left < quotaReserve {
		return nil, "", fmt.Errorf("%w: %d calls are left of the quota, which are kept for customers",
			gateway.ErrUnavailable, left)
	}
	step, offset := position(page)
	if step >= len(lists) {
		return nil, "", fmt.Errorf("page %q is none of ours", page)
	}
	query := lists[step](g, since, g.cfg.Clock.Now())
	query.Set("limit", "100")
	query.Set("offset", strconv.Itoa(offset))
	got, err := get(ctx, g.client, "/payments", query, (*list[payment]).check)
	if err != nil {
		return nil, "", err
	}
	events := []gateway.Event{}
	for i := range got.Data {
		events = append(events, g.present(&got.Data[i])...)
	}
	switch {
	case got.HasMore && len(got.Data) > 0:
		return events, fmt.Sprintf("%d:%d", step, offset+len(got.Data)), nil
	case step+1 < len(lists):
		return events, fmt.Sprintf("%d:0", step+1), nil
	}
	return events, "", nil
}

// position reads a page of ours, "step:offset"; "" is the first.
func position(page string) (step, offset int) {
	first, second, _ := strings.Cut(page, ":")
	step, _ = strconv.Atoi(first)
	offset, _ = strconv.Atoi(second)
	return max(step, 0), max(offset, 0)
}

// EventsSince: the gateway lists no events.
func (*lister) EventsSince(context.Context, time.Time, string) ([]json.RawMessage, string, error) {
	return nil, "", gateway.ErrUnsupported
}

// present is what a payment's present state means. A refunded or disputed one
// was settled before.
func (g *lister) present(p *payment) []gateway.Event {
	now := g.cfg.Clock.Now()
	base := gateway.Event{Gateway: gateway.GWA, Type: gateway.Reconciled, CreatedAt: now}
	report, dispute := p.report(g.cfg.Zone, now), p.dispute(now)
	var events []gateway.Event
	if p.neutral(g.cfg.Zone).Status == gateway.PaymentStatusSettled || report.Total > 0 || dispute != nil {
		e := g.about(p, &envelope{}, base)
		g.readSettled(p, &e)
		events = append(events, e)
	}
	if report.Total > 0 {
		e := g.about(p, &envelope{}, base)
		report.Type = base.Type
		e.Payload = gateway.RefundChange{Status: gateway.RefundStatusDone, Report: report}
		events = append(events, e)
	}
	if dispute != nil {
		e := g.about(p, &envelope{}, base)
		e.Payload = gateway.DisputeChange{Report: *dispute}
		events = append(events, e)
	}
	return events
}
