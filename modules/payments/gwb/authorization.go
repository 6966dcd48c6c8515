package gwb

import (
	"context"

	"marquee/modules/payments"
)

// AuthorizePix is not offered: automatic PIX is gateway A's.
func (*Gateway) AuthorizePix(context.Context, payments.AuthorizationTerms) (payments.PixAuthorization, error) {
	return payments.PixAuthorization{}, payments.ErrUnsupported
}

// FindPixAuthorization is not offered.
func (*Gateway) FindPixAuthorization(context.Context, payments.AuthorizationTerms) (payments.PixAuthorization, bool, error) {
	return payments.PixAuthorization{}, false, payments.ErrUnsupported
}

// ReadPixAuthorization is not offered.
func (*Gateway) ReadPixAuthorization(context.Context, payments.AuthorizationRef) (payments.PixAuthorization, error) {
	return payments.PixAuthorization{}, payments.ErrUnsupported
}

// CancelPixAuthorization is not offered.
func (*Gateway) CancelPixAuthorization(context.Context, payments.AuthorizationRef) error {
	return payments.ErrUnsupported
}

// DebitPix is not offered.
func (*Gateway) DebitPix(context.Context, payments.DebitTerms) (payments.Payment, error) {
	return payments.Payment{}, payments.ErrUnsupported
}

// FindPixDebit is not offered.
func (*Gateway) FindPixDebit(context.Context, payments.DebitTerms) (payments.Payment, bool, error) {
	return payments.Payment{}, false, payments.ErrUnsupported
}

// FindPixOrder is not offered.
func (*Gateway) FindPixOrder(context.Context, string) (payments.PixOrder, bool, error) {
	return payments.PixOrder{}, false, payments.ErrUnsupported
}

// RetryPixOrder is not offered.
func (*Gateway) RetryPixOrder(context.Context, payments.RetryTerms) (payments.PixOrder, error) {
	return payments.PixOrder{}, payments.ErrUnsupported
}
