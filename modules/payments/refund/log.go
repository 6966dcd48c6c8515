package refund

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/payments/internal/paymentsdb"
	"marquee/modules/payments/ledger"
	"marquee/platform/objectid"
)

// RefundByID is a refund with what its gateway answered, null while it has not, or
// once the log of it has been forgotten.
func (s *Refunds) RefundByID(ctx context.Context, id objectid.ID) (Outcome, error) {
	row, err := s.db.RefundFind(ctx, s.deps.Pool, id)
	if err != nil {
		return Outcome{}, fmt.Errorf("read refund: %w", err)
	}
	out := Outcome{Refund: ledger.RefundOf(row)}
	payload, err := s.db.WebhookLogPayloadOf(ctx, s.deps.Pool, paymentsdb.WebhookLogPayloadOfParams{Gateway: row.Gateway, EventID: &row.EventID})
	if errors.Is(err, pgx.ErrNoRows) {
		return out, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	var logged struct {
		Response json.RawMessage `json:"gateway_response"`
	}
	err = json.Unmarshal(payload, &logged)
	out.Response = logged.Response
	return out, err
}
