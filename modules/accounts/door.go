package accounts

import (
	"context"

	"marquee/modules/accounts/codes"
)

// GuestPurchases tells of what was bought for an address without a login.
type GuestPurchases = codes.GuestPurchases

// TakeMail takes one of the mails that an address may be sent in a day because somebody asks
// for them, codes among them; 422 for what is no address, 429 when it has had them all.
func (s *Service) TakeMail(ctx context.Context, address string) error {
	return s.codes.TakeMail(ctx, address)
}
