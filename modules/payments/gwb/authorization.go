package gwb

import (
	"context"

	"marquee/modules/payments/gateway"
)

// AuthorizePix is not offered: automatic PIX is gateway A's.
func (*authorizations) AuthorizePix(context.Context, gateway.AuthorizationTerms) (gateway.PixAuthorization, error) {
	return gateway.PixAuthorization{}, gateway.ErrUnsupported
}

// FindPixAuthorization is not offered.
func (*authorizations) FindPixAuthorization(context.Context,
	gateway.AuthorizationTerms,
) (gateway.PixAuthorization, bool, error) {
	return gateway.PixAuthorization{}, false, gateway.ErrUnsupported
}

// ReadPixAuthorization is not offered.
func (*authorizations) ReadPixAuthorization(context.Context,
	gateway.AuthorizationRef,
) (gateway.PixAuthorization, error) {
	return gateway.PixAuthorization{}, gateway.ErrUnsupported
}

// CancelPixAuthorization is not offered.
func (*authorizations) CancelPixAuthorization(context.Context, gateway.AuthorizationRef) error {
	return gateway.ErrUnsupported
}

// DebitPix is not offered.
func (*authorizations) DebitPix(context.Context, gateway.DebitTerms) (gateway.Payment, error) {
	return gateway.Payment{}, gateway.ErrUnsupported
}

// FindPixDebit is not offered.
func (*authorizations) FindPixDebit(context.Context, gateway.DebitTerms) (gateway.Payment, bool, error) {
	return gateway.Payment{}, false, gateway.ErrUnsupported
}

// FindPixOrder is not offered.
func (*authorizations) FindPixOrder(context.Context, string) (gateway.PixOrder, bool, error) {
	return gateway.PixOrder{}, false, gateway.ErrUnsupported
}

// RetryPixOrder is not offered.
func (*authorizations) RetryPixOrder(context.Context, gateway.RetryTerms) (gateway.PixOrder, error) {
	return gateway.PixOrder{}, gateway.ErrUnsupported
}
