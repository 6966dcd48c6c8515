// Package promos owns promo codes, their bundles, and who has redeemed them.
//
// It owns the schema promos: promo_codes and redemptions. It does not own events
// and tickets (module tickets issues them through IssueTx), subscriptions (they
// ask for a discount and hold a code through FirstMonth, HoldTx, RedeemTx and
// ReleaseTx), users, or files (images are files of purpose promo_image).
//
// # Words
//
// A code is of type promo, which lowers the first month of a subscription and may
// bundle other codes, its children, or of type ticket, which gives tickets to an
// event. A code is visible while it is active and its event_date is not past; it
// is valid while it is active, within its window, and its event not over by the
// end rule. A target is a customer who is given a ticket when the code is made,
// which is their redemption. A subscription that is not paid yet holds a code; once
// paid it has used it.
//
// # What always holds
//
// A customer redeems a code once: the constraint redemptions_once_a_customer. No
// bundle leads back to itself: bundles change under one lock and are checked
// after the change.
//
// # Timestamps
//
// redeemed_at is when the code counted as redeemed, null while it is only held;
// paid_at is when the subscription that it lowers was paid.
package promos
