package gwa

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/reply"
	"marquee/platform/objectid"
)

const (
	statusActive   = "ACTIVE"
	statusInactive = "INACTIVE"
)

// statusBody pauses or resumes: the gateway knows no other pause (docs/gateway-facts.md, A4).
type statusBody struct {
	Status      string `json:"status"`
	NextDueDate string `json:"nextDueDate,omitempty"`
}

// StopCollection makes the subscription inactive, which only stops new charges.
func (g *recurrences) StopCollection(ctx context.Context, c gateway.Collection) error {
	found, err := g.subscription(ctx, c.GatewayID, c.SubscriptionID)
	if err != nil || found.Deleted || found.Status != statusActive {
		return err
	}
	_, err = g.putStatus(ctx, c, statusBody{Status: statusInactive})
	return err
}

// OpenCharges lists the pending charges.
func (g *recurrences) OpenCharges(ctx context.Context, c gateway.Collection) ([]gateway.Payment, error) {
	var open []gateway.Payment
	path := "/subscriptions/" + url.PathEscape(c.GatewayID) + "/payments"
	err := each(ctx, g.client, path, url.Values{"status": {"PENDING"}}, func(p *payment) bool {
		if !p.Deleted && p.Status == "PENDING" {
			open = append(open, p.neutral(g.cfg.Zone))
		}
		return true
	})
	return open, err
}

// DropCharge deletes a charge.
func (g *payments) DropCharge(ctx context.Context, paymentID string, local objectid.ID) error {
	return g.CancelPix(ctx, paymentID, local)
}

// ResumeCollection looks first: what is active already has made charges, perhaps,
// and the same day given again would make them once more.
func (g *recurrences) ResumeCollection(ctx context.Context, c gateway.Collection, due *time.Time,
	from time.Time,
) (gateway.RemoteSubscription, error) {
	found, err := g.subscription(ctx, c.GatewayID, c.SubscriptionID)
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	if found.Deleted || found.Status != statusInactive {
		return found.neutral(g.cfg.Zone), nil
	}
	if due == nil {
		due = found.NextDueDate.in(g.cfg.Zone)
	}
	next := max(day(g.cfg.Clock.Now(), g.cfg.Zone), day(from, g.cfg.Zone))
	if due != nil {
		next = max(next, day(*due, g.cfg.Zone))
	}
	s, err := g.putStatus(ctx, c, statusBody{Status: statusActive, NextDueDate: next})
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	return s.neutral(g.cfg.Zone), nil
}

// MoveNextCharge sets the next due date. What does not run is left as it is.
func (g *recurrences) MoveNextCharge(ctx context.Context, c gateway.Collection,
	to time.Time,
) (gateway.RemoteSubscription, error) {
	found, err := g.subscription(ctx, c.GatewayID, c.SubscriptionID)
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	due := day(to, g.cfg.Zone)
	next := found.NextDueDate.in(g.cfg.Zone)
	if found.Deleted || found.Status != statusActive || next != nil && day(*next, g.cfg.Zone) == due {
		return found.neutral(g.cfg.Zone), nil
	}
	s, err := g.putStatus(ctx, c, statusBody{Status: statusActive, NextDueDate: due})
	if err != nil {
		return gateway.RemoteSubscription{}, err
	}
	remote := s.neutral(g.cfg.Zone)
	if remote.NextBilling == nil || day(*remote.NextBilling, g.cfg.Zone) < due {
		return remote, fmt.Errorf("%w: %w", gateway.ErrOutcomeUnknown,
			reply.Odd("it does not tell the day that was set"))
	}
	return remote, nil
}

func (g *recurrences) putStatus(ctx context.Context, c gateway.Collection, body statusBody) (*subscription, error) {
	return repeated(ctx, g.client, request{
		method: http.MethodPut, path: "/subscriptions/" + url.PathEscape(c.GatewayID), timeout: g.cfg.Timeout,
		body: body,
	}, func(s *subscription) error {
		if s.Status != body.Status {
			return reply.Odd("it does not tell the status that was set")
		}
		return s.check(c.GatewayID, c.SubscriptionID)
	})
}
