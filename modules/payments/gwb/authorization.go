package gwb

import (
	"context"

	"marquee/modules/payments/gateway"
)

// AuthorizePix is not offered: automatic PIX is gateway A's.
func (*Gateway) AuthorizePix(context.Context, gateway.AuthorizationTerms) (gateway.PixAuthorization, error) {
	return gateway.PixAuthorization{}, gateway.ErrUnsupported
}

// FindPixAuthorization is not offered.
func (*Gateway) FindPixAuthorization(context.Context, gateway.AuthorizationTerms) (gateway.PixAuthorization, bool, error) {
	return gateway.PixAuthorization{}, false, gateway.ErrUnsupported
}

// ReadPixAuthorization is not offered.
func (*Gateway) ReadPixAuthorization(context.Context, gateway.AuthorizationRef) (gateway.PixAuthorization, error) {
	return gateway.PixAuthorization{}, gateway.ErrUnsupported
}

// CancelPixAuthorization is not offered.
func (*Gateway) CancelPixAuthorization(context.Context, gateway.AuthorizationRef) error {
	return gateway.ErrUnsupported
}

// DebitPix is not offered.
func (*Gateway) DebitPix(context.Context, gateway.DebitTerms) (gateway.Payment, error) {
	return gateway.Payment{}, gateway.ErrUnsupported
}

// FindPixDebit is not offered.
func (*Gateway) FindPixDebit(context.Context, gateway.DebitTerms) (gateway.Payment, bool, error) {
	return gateway.Payment{}, false, gateway.ErrUnsupported
}

// FindPixOrder is not offered.
func (*Gateway) FindPixOrder(context.Context, string) (gateway.PixOrder, bool, error) {
	return gateway.PixOrder{}, false, gateway.ErrUnsupported
}

// RetryPixOrder is not offered.
func (*Gateway) RetryPixOrder(context.Context, gateway.RetryTerms) (gateway.PixOrder, error) {
	return gateway.PixOrder{}, gateway.ErrUnsupported
}
