package app

import (
	"context"

	"github.com/jackc/pgx/v5"

	"marquee/modules/promos"
	"marquee/modules/subscriptions"
	"marquee/platform/objectid"
)

// signupPromos lets accounts, which is built first, ask the module promos.
type signupPromos struct{ promos *promos.Service }

// SignupPromoCode is that of promos.
func (p *signupPromos) SignupPromoCode(ctx context.Context, code string) (objectid.ID, error) {
	return p.promos.SignupPromoCode(ctx, code)
}

// RedeemSignupCodeTx is that of promos.
func (p *signupPromos) RedeemSignupCodeTx(ctx context.Context, tx pgx.Tx, customerID, codeID objectid.ID) error {
	return p.promos.RedeemSignupCodeTx(ctx, tx, customerID, codeID)
}

// subscriptionPromos is the module promos as subscriptions see it.
type subscriptionPromos struct{ *promos.Service }

// FirstMonth is that of promos.
func (p subscriptionPromos) FirstMonth(ctx context.Context, customerID objectid.ID,
	code string) (subscriptions.PromoDiscount, bool, error) {
	d, ok, err := p.Service.FirstMonth(ctx, customerID, code)
	return subscriptions.PromoDiscount{Code: d.Code, FirstMonth: d.FirstMonth}, ok, err
}
