package gateway

import (
	"context"
	"time"

	"marquee/platform/objectid"
)

// CollectionPauser has a card subscription that runs collect nothing for a while.
// Repeating any of it is harmless. What has ended at the gateway collects nothing,
// and is no error; ErrMissing says that it is not known there.
type CollectionPauser interface {
	// StopCollection has the subscription collect nothing that it makes from now on.
	// What it has made stays open.
	StopCollection(ctx context.Context, c Collection) error
	// OpenCharges lists what the subscription has made and nobody has paid: gateway
	// A's pending charges, which it makes up to 40 days ahead and collects on their
	// days; gateway B's open invoices, which it tries again.
	OpenCharges(ctx context.Context, c Collection) ([]Payment, error)
	// DropCharge has one of them never be collected. ErrAlreadyPaid when it was paid
	// meanwhile.
	DropCharge(ctx context.Context, paymentID string, local objectid.ID) error
	// ResumeCollection has the subscription collect again. Gateway A's next charge
	// falls due on the day, or where none is given on the one that it had, but not
	// before the day of from, nor before today; gateway B goes on with its periods, the
	// first of which begins after today. The answer tells the next charge.
	ResumeCollection(ctx context.Context, c Collection, due *time.Time, from time.Time) (RemoteSubscription, error)
	// MoveNextCharge has the subscription charge next at the instant, which lies ahead,
	// gateway A on its day; the time until then is free. Gateway A keeps the charges that
	// it has made: drop them first. The answer tells the next charge.
	MoveNextCharge(ctx context.Context, c Collection, to time.Time) (RemoteSubscription, error)
}

// Collection names a card subscription at its gateway.
type Collection struct {
	SubscriptionID objectid.ID // the local row
	GatewayID      string
}
