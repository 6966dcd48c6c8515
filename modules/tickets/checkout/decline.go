package checkout

import (
	"context"
	"fmt"

	"marquee/modules/accounts"
	"marquee/modules/payments/gateway"
	"marquee/modules/tickets/internal/ticketsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/secret"
)

// subjects are whom declines count against: the client's address, the card, and
// the buyer. Each is an HMAC, so that nobody finds a card number, an address or an
// e-mail in them.
type subjects struct{ address, card, buyer []byte }

// subjects of a payment; buyer is the account's e-mail, in whichever way he came.
func (s *Checkout) subjects(ctx context.Context, instrument gateway.Instrument, buyer string) subjects {
	card := instrument.PaymentMethodID
	if instrument.Card != nil {
		card = instrument.Card.Number.Reveal()
	}
	return subjects{
		address: secret.MAC(s.declines, "address", httpapi.ClientIP(ctx)),
		card:    secret.MAC(s.declines, "card", card),
		buyer:   secret.MAC(s.declines, "buyer", accounts.Mailbox(buyer)),
	}
}

// checkDeclines answers 429 when one of the subjects has had too many cards
// declined lately: whoever tries stolen numbers does not try many.
func (s *Checkout) checkDeclines(ctx context.Context, sub subjects) error {
	n, err := s.db.DeclineCount(ctx, s.pool, ticketsdb.DeclineCountParams{
		AddressMac: sub.address, CardMac: sub.card, BuyerMac: sub.buyer, Since: s.clock.Now().Add(-s.cfg.DeclineWindow),
	})
	if err != nil {
		return fmt.Errorf("count declines: %w", err)
	}
	if int(n.Address) >= s.cfg.DeclinesPerAddress || int(n.Card) >= s.cfg.DeclinesPerCard || int(n.Buyer) >= s.cfg.DeclinesPerBuyer {
		return fault.Throttled(s.cfg.DeclineWindow, "Too many declined payments. Wait up to %s, or pay by PIX.", fault.Count(int(s.cfg.DeclineWindow.Minutes()), "minute"))
	}
	return nil
}

func (s *Checkout) noteDecline(ctx context.Context, sub subjects) error {
	err := s.db.DeclineInsert(ctx, s.pool, ticketsdb.DeclineInsertParams{AddressMac: sub.address, CardMac: sub.card, BuyerMac: sub.buyer, At: s.clock.Now()})
	if err != nil {
		return fmt.Errorf("note decline: %w", err)
	}
	return nil
}
