package accounts

import (
	"context"

	"marquee/modules/accounts/sessions"
	"marquee/platform/httpapi"
)

// Passwords, tokens and who calls are the business of room sessions.
type (
	// PasswordCost is the price of one argon2id hash.
	PasswordCost = sessions.PasswordCost
	// ThrottleLimits bound guessing, at passwords and at codes.
	ThrottleLimits = sessions.ThrottleLimits
	// SyncLimits bound what logins ask of the gateways.
	SyncLimits = sessions.SyncLimits
	// SubscriptionSync brings a customer's subscription to what its gateway says.
	SubscriptionSync = sessions.SubscriptionSync
	// CallerLimit bounds how often something may be done in a minute (UTC), across processes.
	CallerLimit = sessions.CallerLimit
)

// Verify checks signature, kind and expiry of an access token, without the database.
func (s *Service) Verify(token string) (httpapi.Claims, error) { return s.sessions.Verify(token) }

// Caller reads the user that the claims name; 403 when they are gone, disabled, or have ended
// tokens of that age.
func (s *Service) Caller(ctx context.Context, claims httpapi.Claims) (httpapi.Caller, error) {
	return s.sessions.Caller(ctx, claims)
}

// LimitCaller counts what the caller does; 429 with the seconds to wait.
func (s *Service) LimitCaller(ctx context.Context, l CallerLimit) error {
	return s.sessions.LimitCaller(ctx, l)
}
