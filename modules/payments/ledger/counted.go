package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/gateway"
	"marquee/modules/payments/internal/paymentsdb"
	"marquee/platform/objectid"
)

// RecordCountedTx writes payments of subscriptions into the ledger, all of one gateway and all of which count, by one
// statement: what RecordPaymentTx and CountPaymentTx do of each. The caller has seen that the ledger has none of them.
// One that it has all the same, or that was read live, is an error, as are those of RecordPaymentTx: the transaction
// has to be rolled back then.
func (s *Ledger) RecordCountedTx(ctx context.Context, tx pgx.Tx, all []Record) error {
	if len(all) == 0 {
		return nil
	}
	p := paymentsdb.PaymentInsertManyParams{Gateway: all[0].Gateway, At: s.deps.Clock.Now()}
	byID := map[string]Record{}
	for _, r := range all {
		if r.Gateway != p.Gateway || r.Purpose != gateway.ForSubscription || r.Confirmed || r.Payment.MadeFor != nil {
			return fmt.Errorf("payment %s is not one that is booked together with others", r.Payment.ID)
		}
		if err := r.check(); err != nil {
			return err
		}
		settledAt := p.At
		if r.Payment.SettledAt != nil {
			settledAt = *r.Payment.SettledAt
		}
		byID[r.Payment.ID] = r
		p.Ids, p.LocalIds = append(p.Ids, objectid.At(p.At).String()), append(p.LocalIds, r.LocalID.String())
		p.CustomerIds = append(p.CustomerIds, r.CustomerID.String())
		p.GatewayPaymentIds = append(p.GatewayPaymentIds, r.Payment.ID)
		p.InvoiceIds = append(p.InvoiceIds, r.Payment.InvoiceID)
		p.PaymentIntentIds = append(p.PaymentIntentIds, r.Payment.PaymentIntentID)
		p.Amounts, p.Methods = append(p.Amounts, int64(r.Payment.Amount)), append(p.Methods, string(r.Payment.Method))
		p.NativeStatuses = append(p.NativeStatuses, r.Payment.NativeStatus)
		p.SettledAts = append(p.SettledAts, settledAt)
	}
	awaited, err := s.db.PaymentInsertMany(ctx, tx, p)
	if err != nil {
		return fmt.Errorf("book %d payments: %w", len(all), err)
	}
	for _, id := range awaited {
		if err := InsertReplayTx(ctx, tx, s, p.Gateway, byID[id].EventSubjects()); err != nil {
			return err
		}
	}
	return nil
}
