package catalog

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"marquee/platform/collection"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// question is the one round trip that a list of videos begins with: who asks,
// whether he may watch, and either the page itself or the catalogue's version,
// by which a page in memory is known to be the present one (design page
// performance, points 1 and 3).
type question struct {
	batch     pgx.Batch
	caller    httpapi.Caller
	callerErr error
	active    bool
	accessErr error
}

func (s *Service) ask(ctx context.Context) *question {
	q := &question{}
	claims := httpapi.ClaimsOf(ctx)
	s.deps.Callers.QueueCaller(&q.batch, claims, func(c httpapi.Caller, err error) { q.caller, q.callerErr = c, err })
	s.deps.Access.QueueAccess(&q.batch, claims.UserID, s.deps.Clock.Now(), func(is bool, err error) { q.active, q.accessErr = is, err })
	return q
}

// send runs the batch. The error is the caller's: 403 for a bad token, 403
// FORBIDDEN without an active subscription.
func (s *Service) send(ctx context.Context, q *question) error {
	ctx, cancel := context.WithTimeout(ctx, collection.Deadline)
	defer cancel()
	err := s.lists.SendBatch(ctx, &q.batch).Close()
	switch {
	case q.callerErr != nil:
		return q.callerErr
	case q.caller.ID == objectid.ID("") && err != nil:
		return fmt.Errorf("ask who lists videos: %w", err)
	case q.caller.IsAdmin():
	case q.accessErr != nil:
		return q.accessErr
	case !q.active:
		return fault.Denied("No active subscription.")
	}
	if err != nil {
		return fmt.Errorf("list videos: %w", err)
	}
	return nil
}

// admit checks the caller alone.
func (s *Service) admit(ctx context.Context) error { return s.send(ctx, s.ask(ctx)) }

// fill checks the caller and gives the list its page. A page that has been asked
// for before is compared with the catalogue's version; a first page that has not
// comes along in the same round trip; a client's filter that has not follows in a
// second one, since the statements of a batch are prepared and kept.
func (s *Service) fill(ctx context.Context, list *collection.List) error {
	q, key := s.ask(ctx), list.Key()
	page, known := s.pages.Get(key)
	var version int64
	var pageErr error
	together := !known && list.Cached()
	if together {
		list.Queue(&q.batch, func(err error) { pageErr = err })
	} else {
		q.batch.Queue("SELECT number FROM catalog.version").QueryRow(func(row pgx.Row) error { return row.Scan(&version) })
	}
	if err := s.send(ctx, q); err != nil {
		return err
	}
	switch {
	case together && pageErr == nil:
		s.shown.WithLabelValues(fromDatabase).Inc()
		s.pages.Put(key, list.Page())
		return nil
	case together:
		return pageErr
	case known && page.Version == version:
		s.shown.WithLabelValues(fromMemory).Inc()
		list.Fill(page)
		return nil
	}
	s.shown.WithLabelValues(fromDatabase).Inc()
	return s.fetch(ctx, list, key, version)
}

// fetch reads the page. Requests for the same page of the same version wait for
// one of them, so that a write to the catalogue does not make every client count
// its rows anew. The page is as new as version or newer: it is read later.
func (s *Service) fetch(ctx context.Context, list *collection.List, key string, version int64) error {
	if key == "" {
		return list.Run(ctx, s.lists)
	}
	found, err, _ := s.asked.Do(strconv.FormatInt(version, 10)+key, func() (any, error) {
		// The others wait on behalf of their own clients, so this one's going away
		// must not fail them; Run has its own deadline.
		if err := list.Run(context.WithoutCancel(ctx), s.lists); err != nil {
			return nil, err
		}
		s.pages.Put(key, list.Page())
		return list.Page(), nil
	})
	if err != nil {
		return err
	}
	if page, ok := found.(collection.Page); ok {
		list.Fill(page)
	}
	return nil
}
