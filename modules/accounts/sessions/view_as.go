package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// viewTTL is how long staff see what a customer sees.
const viewTTL = 15 * time.Minute

type viewAsInput struct {
	ID   string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
	Body struct {
		Reason string `json:"reason" minLength:"3" maxLength:"500" doc:"For the audit trail"`
	}
}

type viewBody struct {
	AccessToken string       `json:"access_token" doc:"Of the customer; it only reads"`
	TokenType   string       `json:"token_type"`
	Expiration  httpapi.Time `json:"expiration"`
	CustomerID  objectid.ID  `json:"customer_id"`
}

// ViewAs answers POST /admin/customers/{id}/view-as: a token by which staff see for a quarter of an hour what the
// customer sees. It only reads, cannot be refreshed, is no session of the customer's, and ends with that of whoever
// asked for it. Why is in the audit trail. Errors: 404; 409 for a customer whose account is disabled.
func (h Handlers) ViewAs(ctx context.Context, in *viewAsInput) (*httpapi.Output[viewBody], error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, fault.InvalidAt(err.Error(), "path", "id")
	}
	actor, now := httpapi.CallerOf(ctx), h.s.deps.Clock.Now()
	var customer accountsdb.User
	err = postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) (err error) {
		customer, err = h.s.db.UserGetCustomer(ctx, tx, id)
		switch {
		case postgres.IsNoRows(err):
			return identity.ErrNoCustomer()
		case err != nil:
			return fmt.Errorf("read customer: %w", err)
		case !customer.Enable:
			return fault.Conflict("The account is disabled: the customer sees nothing.")
		}
		return identity.RecordTx(ctx, tx, customer, map[string]any{}, map[string]any{
			"viewed_as_until": httpapi.Time(now.Add(viewTTL)), "reason": in.Body.Reason,
		})
	})
	if err != nil {
		return nil, err
	}
	token, expires, err := h.s.tokens.signView(httpapi.Caller{
		ID: customer.ID, Username: customer.Username, Type: customer.UserType,
	}, &viewer{actor.ID, actor.Claims.SessionID}, now)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(viewBody{
		AccessToken: token, TokenType: TokenType, Expiration: httpapi.Time(expires), CustomerID: customer.ID,
	})
}

// checkViewer refuses a token by which staff see what a customer sees once they may no more: 403 as Caller.
func (s *Sessions) checkViewer(ctx context.Context, of httpapi.Claims) error {
	viewer, err := s.db.CallerRead(ctx, s.deps.Pool, accountsdb.CallerReadParams{
		UserID: of.ViewerID, IssuedAt: of.IssuedAt, SessionID: of.ViewerSessionID.String(),
	})
	if postgres.IsNoRows(err) || err == nil && viewer.UserType != httpapi.TypeAdmin {
		return httpapi.ErrBadToken()
	}
	if err != nil {
		return fmt.Errorf("read who looks: %w", err)
	}
	return nil
}
