package catalog

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/platform/collection"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// listVideos answers GET /videos: to admins, and to customers with an active
// subscription.
func (s *Service) listVideos(ctx context.Context, _ *collection.GetInput) (*collection.Answer, error) {
	list, err := prepareVideos(ctx)
	if err != nil {
		// Who may not watch hears that first, whatever else is wrong.
		if denied := s.admit(ctx, nil); denied != nil {
			return nil, denied
		}
		return nil, err
	}
	if err := s.admit(ctx, list); err != nil {
		return nil, err
	}
	return list.Envelope(ctx), nil
}

func prepareVideos(ctx context.Context) (*collection.List, error) {
	params, err := Videos.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, err
	}
	return Videos.Prepare(params)
}

// admit checks the caller and fetches list, if one is given, in the same round
// trip to the database (design page architecture, section 2, "The list's hot
// path"). A list whose text depends on the client's filter follows in a second
// one, since the statements of a batch are prepared and kept.
func (s *Service) admit(ctx context.Context, list *collection.List) error {
	var (
		b                            pgx.Batch
		caller                       httpapi.Caller
		active                       bool
		callerErr, accessErr, docErr error
	)
	queued, cancel := context.WithTimeout(ctx, collection.Deadline)
	defer cancel()
	claims := httpapi.ClaimsOf(ctx)
	s.deps.Callers.QueueCaller(&b, claims, func(c httpapi.Caller, err error) { caller, callerErr = c, err })
	s.deps.Access.QueueAccess(&b, claims.UserID, s.deps.Clock.Now(), func(is bool, err error) { active, accessErr = is, err })
	together := list != nil && list.Cached()
	if together {
		list.Queue(&b, func(err error) { docErr = err })
	}
	batchErr := s.lists.SendBatch(queued, &b).Close()
	switch {
	case callerErr != nil:
		return callerErr
	case caller.ID == "":
		return fmt.Errorf("check who lists videos: %w", batchErr)
	case !caller.IsAdmin() && accessErr != nil:
		return accessErr
	case !caller.IsAdmin() && !active:
		return fault.Denied("No active subscription.")
	case list == nil:
		return nil
	case together && docErr == nil && batchErr != nil:
		return fmt.Errorf("list videos: %w", batchErr)
	case together:
		return docErr
	}
	return list.Run(ctx, s.lists)
}
