package gateway

import (
	"context"
	"errors"
	"fmt"

	"marquee/platform/objectid"
)

// WithdrawPix makes an open PIX payment unpayable, so that nobody pays an old code; one that
// is missing is. One that has just been paid is answered as it is now, also with the error
// ErrAlreadyPaid when that could not be read.
func WithdrawPix(ctx context.Context, gw Gateway, paymentID string, local objectid.ID) (paid *PixCharge, err error) {
	err = gw.CancelPix(ctx, paymentID, local)
	switch {
	case errors.Is(err, ErrAlreadyPaid):
		charge, err := gw.ReadPix(ctx, paymentID, local)
		if err != nil {
			return nil, fmt.Errorf("%w: read it: %w", ErrAlreadyPaid, err)
		}
		return &charge, nil
	case err != nil && !errors.Is(err, ErrMissing):
		return nil, fmt.Errorf("cancel charge: %w", err)
	}
	return nil, nil //nolint:nilnil // nil is the answer: it cannot be paid
}
