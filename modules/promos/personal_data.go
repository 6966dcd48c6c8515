package promos

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// PersonalDataName names the module's part of a customer's data.
func (s *Service) PersonalDataName() string { return "promo_codes" }

type redemptionDoc struct {
	Code       string        `json:"code"`
	CodeType   string        `json:"code_type"`
	Tickets    int           `json:"tickets"`
	RedeemedAt *httpapi.Time `json:"redeemed_at" nullable:"true"`
}

// PersonalData returns the codes that the customer has redeemed or holds.
func (s *Service) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID, _ bool) (any, error) {
	rows, err := s.db.RedemptionListOfCustomer(ctx, db, customerID)
	if err != nil {
		return nil, err
	}
	out := make([]redemptionDoc, len(rows))
	for i, row := range rows {
		out[i] = redemptionDoc{
			Code: row.Code, CodeType: row.CodeType, Tickets: int(row.Tickets),
			RedeemedAt: httpapi.TimePtr(row.RedeemedAt),
		}
	}
	return out, nil
}

// ErasePersonalDataTx takes the customer out of the targets of codes. Their
// redemptions stay, for the counts: they hold nothing but the id.
func (s *Service) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	return s.db.CodeDropTarget(ctx, tx, customerID.String())
}
