package catalog

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"marquee/platform/collection"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/postgres"
)

// question is the one round trip that a list of videos begins with: who asks,
// whether he may watch, and the catalogue's version, by which a page in memory is
// known to be the present one, in one statement (design page performance, points
// 1 and 3). A page that is not in memory comes along in a second statement.
type question struct {
	parts   postgres.Parts
	caller  httpapi.Caller
	refused error
	active  bool
	version int64
	read    bool // the statement above was
	page    *collection.List
	pageErr error
}

func (s *Service) ask(ctx context.Context) *question {
	q := &question{}
	claims := httpapi.ClaimsOf(ctx)
	q.parts = postgres.Parts{
		s.deps.Callers.CallerPart(claims, func(c httpapi.Caller, err error) { q.caller, q.refused = c, err }),
		s.deps.Access.AccessPart(claims.UserID, s.deps.Clock.Now(), func(active bool) { q.active = active }),
		{SQL: "SELECT number FROM catalog.version", Targets: []any{&q.version}, Done: func() { q.read = true }},
	}
	return q
}

// send asks. The error is the caller's: 403 for a bad token, 403 FORBIDDEN without
// an active subscription.
func (s *Service) send(ctx context.Context, q *question) error {
	ctx, cancel := context.WithTimeout(ctx, collection.Deadline)
	defer cancel()
	if err := s.run(ctx, q); err != nil {
		return fmt.Errorf("ask who lists videos: %w", err)
	}
	switch {
	case q.refused != nil:
		return q.refused
	case q.caller.IsAdmin(), q.active:
		return nil
	}
	return errNoSubscription()
}

func errNoSubscription() *fault.Error { return fault.Denied("No active subscription.") }

func (s *Service) run(ctx context.Context, q *question) error {
	if q.page == nil {
		return q.parts.Ask(ctx, s.lists)
	}
	var batch pgx.Batch
	q.parts.Queue(&batch)
	q.page.Queue(&batch, func(err error) { q.pageErr = err })
	if err := s.lists.SendBatch(ctx, &batch).Close(); !q.read {
		return err
	}
	return nil // what became of the page is told by pageErr
}

// admit checks the caller alone.
func (s *Service) admit(ctx context.Context) error { return s.send(ctx, s.ask(ctx)) }

// fill checks the caller and gives the list its page. A page that has been asked
// for before is compared with the catalogue's version; a first page that has not
// comes along in the same round trip; a client's filter that has not follows in a
// second one, since the statements of a batch are prepared and kept.
func (s *Service) fill(ctx context.Context, list *collection.List) error {
	if httpapi.HeadOnly(ctx) {
		if err := s.admit(ctx); err != nil {
			return err
		}
		return list.Run(ctx, s.lists)
	}
	q, key := s.ask(ctx), list.Key()
	page, known := s.pages.Get(key)
	if !known && list.Cached() {
		q.page = list
	}
	if err := s.send(ctx, q); err != nil {
		return err
	}
	switch {
	case q.page != nil && q.pageErr == nil:
		s.shown.WithLabelValues(fromDatabase).Inc()
		s.pages.Put(key, list.Page())
		return nil
	case q.page != nil:
		return q.pageErr
	case known && page.Version == q.version:
		s.shown.WithLabelValues(fromMemory).Inc()
		list.Fill(page)
		return nil
	}
	s.shown.WithLabelValues(fromDatabase).Inc()
	return s.fetch(ctx, list, key, q.version)
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
