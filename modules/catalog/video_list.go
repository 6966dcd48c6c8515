package catalog

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

// mayWatch tells whether a user of that type may watch: admins, and customers with an
// active subscription. A user without a type is not there.
func mayWatch(userType string, hasAccess bool) error {
	switch {
	case userType == "":
		return httpapi.ErrBadToken()
	case userType == httpapi.TypeAdmin, hasAccess:
		return nil
	}
	return errNoSubscription()
}

func errNoSubscription() *fault.Error { return fault.Forbidden("No active subscription.") }

// respond checks the caller and lists what the query says, in one round trip unless it holds a
// filter that is new: from the page cache where the response of the present version is there,
// else from the database. Without access there is no response, cached or not.
func (s *Service) respond(ctx context.Context, rawQuery string) (*resource.CachedResponse, error) {
	cached, found := s.pages.Get(rawQuery)
	if !found {
		return s.respondUncached(ctx, rawQuery)
	}
	version, err := s.viewers.check(ctx, httpapi.ClaimsOf(ctx))
	if err != nil {
		return nil, err
	}
	if cached.Version == version {
		s.served.WithLabelValues(fromCache).Inc()
		cached.CountUnknown()
		return cached, nil
	}
	list, err := prepareVideos(ctx)
	if err != nil {
		return nil, err
	}
	return s.fetch(ctx, list, rawQuery, version)
}

// respondUncached is respond for a query that is not in the page cache.
func (s *Service) respondUncached(ctx context.Context, rawQuery string) (*resource.CachedResponse, error) {
	list, err := prepareVideos(ctx)
	if err == nil && list.Cached() {
		return s.fetchChecked(ctx, list, rawQuery)
	}
	version, denied := s.viewers.check(ctx, httpapi.ClaimsOf(ctx))
	if denied != nil { // without access that is the error, whatever else is wrong
		return nil, denied
	}
	if err != nil {
		return nil, err
	}
	return s.fetch(ctx, list, rawQuery, version)
}

// fetchChecked checks the caller and reads a page that is not in the cache, in one round
// trip. What a client's filter makes of the statement would be prepared and kept for each
// filter: such a list takes two.
func (s *Service) fetchChecked(
	ctx context.Context, list *resource.List, rawQuery string,
) (*resource.CachedResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, resource.Deadline)
	defer cancel()
	var v catalogdb.ViewerReadRow
	var batch pgx.Batch
	var isRead bool
	var unread error
	claims := httpapi.ClaimsOf(ctx)
	batch.Queue(catalogdb.ViewerRead, claims.UserID, s.deps.Clock.Now(), claims.IssuedAt, claims.TokenID,
		claims.SessionID.String()).
		QueryRow(func(row pgx.Row) error {
			err := row.Scan(&v.UserType, &v.HasAccess, &v.Number)
			isRead = err == nil
			return err
		})
	list.Queue(&batch, func(err error) { unread = err })
	if err := s.deps.Reads.SendBatch(ctx, &batch).Close(); !isRead {
		return nil, fmt.Errorf("read who lists videos: %w", err)
	}
	if err := mayWatch(v.UserType, v.HasAccess); err != nil {
		return nil, err
	}
	if unread != nil {
		return nil, unread
	}
	s.served.WithLabelValues(fromDatabase).Inc()
	return s.store(ctx, list, rawQuery), nil
}

// fetch reads the page. Requests with the same query of the same version wait for
// one of them, so that a write to the catalogue does not make every client count
// its rows anew. The page is as new as version or newer: it is read later.
func (s *Service) fetch(
	ctx context.Context, list *resource.List, rawQuery string, version int64,
) (*resource.CachedResponse, error) {
	s.served.WithLabelValues(fromDatabase).Inc()
	found, err, _ := s.fetches.Do(strconv.FormatInt(version, 10)+"?"+rawQuery, func() (any, error) {
		// The others wait on behalf of their own clients, so this one's going away
		// must not fail them; Run has its own deadline.
		if err := list.Run(context.WithoutCancel(ctx), s.deps.Reads); err != nil {
			return nil, err
		}
		return s.store(ctx, list, rawQuery), nil
	})
	if err != nil {
		return nil, err
	}
	response, _ := found.(*resource.CachedResponse) // nothing else is found
	return response, nil
}

// store makes the list's response, for this request and for those with the same query.
func (s *Service) store(ctx context.Context, list *resource.List, rawQuery string) *resource.CachedResponse {
	response := list.CachedResponse(ctx)
	s.pages.Put(rawQuery, response)
	return response
}
