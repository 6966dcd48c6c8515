package unapplied

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/fault"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// decideEnded decides what was left open although the answer has come, as by an earlier
// release.
func (s *List) decideEnded(ctx context.Context) error {
	found, err := s.db.UnappliedListEnded(ctx, s.deps.Pool, unappliedBatch)
	if err != nil {
		return fmt.Errorf("list answered orders: %w", err)
	}
	var failed error
	for _, row := range found {
		failed = errors.Join(failed, postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
			return s.cases.IntentEndedTx(ctx, tx, row.Gateway, objectid.ID(row.Subject))
		}))
	}
	return failed
}

const (
	// mailAgain is after how long the operators are told once more of money that waits.
	mailAgain = 24 * time.Hour
	// listedLines bounds what one mail lists.
	listedLines = 50
)

// tendUnknown gives listed money of a gateway's customer who was not known here, as
// after a restore, its customer once somebody has that id again, and tells the operators
// once a day what is still nobody's.
func (s *List) tendUnknown(ctx context.Context) error {
	return errors.Join(s.findCustomers(ctx), s.notifyUnknownMoney(ctx))
}

func (s *List) findCustomers(ctx context.Context) error {
	if s.deps.Accounts == nil {
		return nil
	}
	rows, err := s.db.UnappliedListOfNobody(ctx, s.deps.Pool, unappliedBatch)
	if err != nil {
		return fmt.Errorf("list money of nobody: %w", err)
	}
	for _, row := range rows {
		owner, err := s.deps.Accounts.CustomerOfGateway(ctx, s.deps.Pool, string(row.Gateway), row.GatewayCustomerID)
		if err != nil {
			return fmt.Errorf("find customer %s: %w", row.GatewayCustomerID, err)
		}
		if owner == "" {
			continue
		}
		err = s.db.UnappliedFindCustomer(ctx, s.deps.Pool, paymentsdb.UnappliedFindCustomerParams{
			CustomerID: owner.String(), NoCustomer: ledger.NoCustomer, ItsCustomer: ledger.ItsCustomer,
			At: s.deps.Clock.Now(), ID: row.ID,
		})
		if err != nil {
			return fmt.Errorf("note whose money it is: %w", err)
		}
	}
	return nil
}

func (s *List) notifyUnknownMoney(ctx context.Context) error {
	now := s.deps.Clock.Now()
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		rows, err := s.db.UnappliedMarkMailed(ctx, tx,
			paymentsdb.UnappliedMarkMailedParams{At: now, Before: now.Add(-mailAgain)})
		if err != nil || len(rows) == 0 {
			return err
		}
		var lines strings.Builder
		for _, row := range rows[:min(len(rows), listedLines)] {
			fmt.Fprintf(&lines, "%s %s, R$ %s: %s\n", row.Gateway, row.GatewayPaymentID, money.Cents(row.AmountCents),
				row.Note)
		}
		if len(rows) > listedLines {
			fmt.Fprintf(&lines, "and %d more\n", len(rows)-listedLines)
		}
		return s.deps.Operators.NotifyTx(ctx, tx, fault.Count(len(rows), "payment")+" of nobody who is known here",
			fmt.Sprintf(
				"On the list of unapplied payments: %s that nobody here is known to have made.\n\n%s\n"+
					"Refund or keep each: GET /admin/finance/unapplied-payments. See docs/operations.md, \"Recurrences that nobody owns\".\n", fault.Count(len(rows), "payment"), lines.String()))
	})
}
