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

// readViewer reads who asks and whether they may watch; it returns the catalogue's version, by
// which a page in memory is known to be the present one. The error is the caller's: 403
// for a bad token, 403 without an active subscription.
func (s *Service) readViewer(ctx context.Context) (version int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, resource.Deadline)
	defer cancel()
	v, err := s.db.ViewerRead(ctx, s.deps.Reads, s.viewer(ctx))
	if err != nil {
		return 0, fmt.Errorf("read who lists videos: %w", err)
	}
	return v.Number, mayWatch(v.UserType, v.HasAccess)
}

func (s *Service) viewer(ctx context.Context) catalogdb.ViewerReadParams {
	claims := httpapi.ClaimsOf(ctx)
	return catalogdb.ViewerReadParams{
		UserID: claims.UserID, Now: s.deps.Clock.Now(), IssuedAt: claims.IssuedAt, TokenID: claims.TokenID,
	}
}

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

// fill checks the caller and gives the list its page, in one round trip unless the client
// has sent a filter that nobody asked for yet: from memory where the page of the present
// version is there, else from the database.
func (s *Service) fill(ctx context.Context, list *resource.List) error {
	key := list.Key()
	page, known := s.pages.Get(key)
	if !known && list.Cached() && !httpapi.HeadOnly(ctx) {
		return s.fetchPage(ctx, list, key)
	}
	version, err := s.readViewer(ctx)
	if err != nil {
		return err
	}
	if httpapi.HeadOnly(ctx) {
		return list.Run(ctx, s.deps.Reads)
	}
	if known && page.Version == version {
		s.served.WithLabelValues(fromCache).Inc()
		list.Fill(page)
		return nil
	}
	s.served.WithLabelValues(fromDatabase).Inc()
	return s.fetch(ctx, list, key, version)
}

// fetchPage checks the caller and reads a page that is not in memory in one round
// trip. What a client's filter makes of the statement would be prepared and kept for each
// filter: such a list takes two.
func (s *Service) fetchPage(ctx context.Context, list *resource.List, key string) error {
	ctx, cancel := context.WithTimeout(ctx, resource.Deadline)
	defer cancel()
	var v catalogdb.ViewerReadRow
	var batch pgx.Batch
	var isRead bool
	var unread error
	who := s.viewer(ctx)
	batch.Queue(catalogdb.ViewerRead, who.UserID, who.Now, who.IssuedAt, who.TokenID).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&v.UserType, &v.HasAccess, &v.Number)
		isRead = err == nil
		return err
	})
	list.Queue(&batch, func(err error) { unread = err })
	if err := s.deps.Reads.SendBatch(ctx, &batch).Close(); !isRead {
		return fmt.Errorf("read who lists videos: %w", err)
	}
	if err := mayWatch(v.UserType, v.HasAccess); err != nil {
		return err
	}
	if unread != nil {
		return unread
	}
	s.served.WithLabelValues(fromDatabase).Inc()
	s.pages.Put(key, list.Page())
	return nil
}

// fetch reads the page. Requests for the same page of the same version wait for
// one of them, so that a write to the catalogue does not make every client count
// its rows anew. The page is as new as version or newer: it is read later.
func (s *Service) fetch(ctx context.Context, list *resource.List, key string, version int64) error {
	if key == "" {
		return list.Run(ctx, s.deps.Reads)
	}
	found, err, _ := s.fetches.Do(strconv.FormatInt(version, 10)+key, func() (any, error) {
		// The others wait on behalf of their own clients, so this one's going away
		// must not fail them; Run has its own deadline.
		if err := list.Run(context.WithoutCancel(ctx), s.deps.Reads); err != nil {
			return nil, err
		}
		s.pages.Put(key, list.Page())
		return list.Page(), nil
	})
	if err != nil {
		return err
	}
	if page, ok := found.(resource.Page); ok {
		list.Fill(page)
	}
	return nil
}
