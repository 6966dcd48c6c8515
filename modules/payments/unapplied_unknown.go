package payments

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/intent"
	"marquee/platform/objectid"
)

// listUnknownTx puts an order whose outcome is not known for a day on the list of money
// that people look at: nobody knows whether there is any.
func (s *Service) listUnknownTx(ctx context.Context, tx pgx.Tx, i intent.Intent) error {
	u := Unapplied{
		Kind: UnappliedUnknown, Gateway: GatewayName(i.Gateway), Subject: i.Subject.String(), CustomerID: i.Customer,
		Note: "The gateway has told nothing that can be used about this " + string(i.Kind) + " since " + i.Since().UTC().Format(time.RFC3339) + ".",
	}
	switch i.Kind {
	case intent.Order:
		u.OrderID = i.Subject
	case intent.Subscription, intent.SubscriptionGone, intent.OpenInvoice, intent.Debit, intent.DebitRetry, intent.Resume:
		u.SubscriptionID = i.Subject
	case intent.Pause, intent.ChargeMove, intent.PlanMove: // rows of their own
		u.SubscriptionID = objectid.ID(i.Reference)
	}
	_, err := s.RecordUnappliedTx(ctx, tx, u)
	return err
}
