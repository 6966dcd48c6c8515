package signins

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// Handlers answers the routes of sessions.
type Handlers struct{ s *Store }

// Handlers returns what answers the routes.
func (s *Store) Handlers() Handlers { return Handlers{s} }

// MySessions answers GET /me/sessions.
func (h Handlers) MySessions(ctx context.Context, _ *struct{}) (*httpapi.EnvelopeOutput[Session], error) {
	return h.sessionsOf(ctx, httpapi.CallerOf(ctx).ID)
}

type sessionInput struct {
	SessionID string `path:"session_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
}

type endedBody struct {
	Message string `json:"message"`
	Ended   int    `json:"ended" doc:"How many sessions were ended"`
}

// EndMySession answers DELETE /me/sessions/{session_id}.
func (h Handlers) EndMySession(ctx context.Context, in *sessionInput) (*httpapi.Output[endedBody], error) {
	c := httpapi.CallerOf(ctx)
	return h.end(ctx, accountsdb.User{ID: c.ID, UserType: c.Type}, in.SessionID)
}

// EndMyOtherSessions answers DELETE /me/sessions.
func (h Handlers) EndMyOtherSessions(ctx context.Context, _ *struct{}) (*httpapi.Output[endedBody], error) {
	c := httpapi.CallerOf(ctx)
	return h.endOthers(ctx, accountsdb.User{ID: c.ID, UserType: c.Type}, c.Claims.SessionID)
}

type userInput struct {
	UserID string `path:"user_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
}

type userSessionInput struct {
	UserID    string `path:"user_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
	SessionID string `path:"session_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits"`
}

// UserSessions answers GET /admin/users/{user_id}/sessions.
func (h Handlers) UserSessions(ctx context.Context, in *userInput) (*httpapi.EnvelopeOutput[Session], error) {
	u, err := h.account(ctx, in.UserID)
	if err != nil {
		return nil, err
	}
	return h.sessionsOf(ctx, u.ID)
}

// EndUserSession answers DELETE /admin/users/{user_id}/sessions/{session_id}.
func (h Handlers) EndUserSession(ctx context.Context, in *userSessionInput) (*httpapi.Output[endedBody], error) {
	u, err := h.account(ctx, in.UserID)
	if err != nil {
		return nil, err
	}
	return h.end(ctx, u, in.SessionID)
}

// EndUserSessions answers DELETE /admin/users/{user_id}/sessions.
func (h Handlers) EndUserSessions(ctx context.Context, in *userInput) (*httpapi.Output[endedBody], error) {
	u, err := h.account(ctx, in.UserID)
	if err != nil {
		return nil, err
	}
	return h.endOthers(ctx, u, "")
}

// account reads whose sessions they are; 404 when there is no such user.
func (h Handlers) account(ctx context.Context, id string) (accountsdb.User, error) {
	u, err := h.s.db.UserGet(ctx, h.s.deps.Pool, objectid.ID(strings.ToLower(id)))
	if postgres.IsNoRows(err) {
		return u, fault.NotFound("User")
	}
	if err != nil {
		return u, fmt.Errorf("read user: %w", err)
	}
	return u, nil
}

func (h Handlers) sessionsOf(ctx context.Context, userID objectid.ID) (*httpapi.EnvelopeOutput[Session], error) {
	all, err := h.s.list(ctx, userID)
	if err != nil {
		return nil, err
	}
	return httpapi.All(ctx, all), nil
}

// end ends one session; 404 when the user has no such one that goes on.
func (h Handlers) end(ctx context.Context, u accountsdb.User, id string) (*httpapi.Output[endedBody], error) {
	session := objectid.ID(strings.ToLower(id))
	err := postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		ended, err := h.s.endTx(ctx, tx, u.ID, session)
		if err != nil {
			return err
		}
		if !ended {
			return fault.NotFound("Session")
		}
		return identity.RecordTx(ctx, tx, u, map[string]any{}, map[string]any{"session_ended": session})
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(endedBody{Message: "The session is ended.", Ended: 1})
}

// endOthers ends all sessions but one; "" for all.
func (h Handlers) endOthers(ctx context.Context, u accountsdb.User,
	except objectid.ID,
) (*httpapi.Output[endedBody], error) {
	var ended int
	err := postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) (err error) {
		if ended, err = h.s.endOthersTx(ctx, tx, u.ID, except); err != nil {
			return err
		}
		return identity.RecordTx(ctx, tx, u, map[string]any{}, map[string]any{"sessions_ended": ended})
	})
	if err != nil {
		return nil, err
	}
	return httpapi.OK(endedBody{Message: fault.Count(ended, "session") + " ended.", Ended: ended})
}
