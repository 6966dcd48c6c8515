package settle

import (
	"marquee/modules/payments/gateway"
	"marquee/modules/payments/intent"
	"marquee/modules/subscriptions/lifecycle"
)

// Made is what a gateway has made for a subscription; the types below are all there are.
// nil: it tells nothing of it.
type Made interface {
	// learn keeps what the row has of it.
	learn(s *Settler, r *lifecycle.Row)
}

// Recurrence charges a card.
type Recurrence struct{ gateway.RemoteSubscription }

// Code is a PIX payment.
type Code struct{ gateway.PixCharge }

// Authorization is an automatic PIX.
type Authorization struct{ gateway.PixAuthorization }

// FirstMonth is the charge of a month that a promo code lowered, and what charges from the
// second on; nil: nothing does (yet).
type FirstMonth struct {
	Charge     gateway.CardCharge
	Recurrence *gateway.RemoteSubscription
}

// Invoice is an open invoice that was paid on request.
type Invoice struct{ gateway.Payment }

func (m Recurrence) learn(s *Settler, r *lifecycle.Row) {
	s.calendar.LearnRemote(r, &m.RemoteSubscription)
}
func (m Code) learn(_ *Settler, r *lifecycle.Row) { lifecycle.LearnPix(r, &m.PixCharge) }
func (m Authorization) learn(_ *Settler, r *lifecycle.Row) {
	lifecycle.LearnAuthorization(r, &m.PixAuthorization)
}
func (m FirstMonth) learn(s *Settler, r *lifecycle.Row) { s.calendar.LearnRemote(r, m.Recurrence) }
func (Invoice) learn(*Settler, *lifecycle.Row)          {}

// Outcome is what a gateway says of a subscription's call, whoever asked: the request
// itself, a look, a live read. Void: a live read found it over. What was refused or is
// missing was not made, and will not be.
type Outcome = intent.Outcome[Made]

// The outcomes that are of something.
type (
	Succeeded = intent.Succeeded[Made]
	Pending   = intent.Pending[Made]
	Declined  = intent.Declined[Made]
	Void      = intent.Void[Made]
)

// recurrenceOf is the recurrence among it.
func recurrenceOf(made Made) *gateway.RemoteSubscription {
	switch made := made.(type) {
	case Recurrence:
		return &made.RemoteSubscription
	case FirstMonth:
		return made.Recurrence
	}
	return nil
}
