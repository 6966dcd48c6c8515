package unapplied

import (
	"context"
	"fmt"

	"marquee/modules/payments/state"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
)

// mailUnappliedRefund is the template of web/mail.
const mailUnappliedRefund = "payment-refund"

// unappliedMail is what the templates show.
type unappliedMail struct {
	Name  string // may be empty
	Total string // reais
	Used  bool   // it paid for a subscription all the same
}

// Mail writes to the payer; who has deleted the account gets nothing.
func (s *List) Mail(ctx context.Context, id objectid.ID) error {
	u, err := s.db.UnappliedFind(ctx, s.deps.Pool, id)
	if err != nil {
		return fmt.Errorf("read unapplied payment: %w", err)
	}
	if s.deps.Mail == nil || s.deps.Accounts == nil || u.CustomerID == nil || u.AmountCents == nil || u.TakenBack ||
		u.State != state.UnappliedRefunded {
		return nil
	}
	payer, err := s.deps.Accounts.CustomerByID(ctx, s.deps.Pool, *u.CustomerID)
	if fault.Is(err, fault.KindNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	message, err := s.deps.Templates.Render(ctx, mailUnappliedRefund, payer.Language, payer.Email, unappliedMail{
		Name: payer.FullName, Total: money.Cents(*u.AmountCents).In(payer.Language), Used: u.Bought,
	})
	if err != nil {
		return fmt.Errorf("write mail: %w", err)
	}
	return s.deps.Mail.Send(ctx, message)
}
