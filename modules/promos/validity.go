package promos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// The sentences of codes that are not valid (docs/contract/promo-codes.md, Validity). An
// unknown and an inactive code read the same.
const (
	unknownMessage = "Promo code not found or inactive."
	expiredMessage = "This promo code has expired."
	endedMessage   = "The event of this promo code has already ended."
	// uselessMessage is all that signup and subscribe say of a code, so that they do
	// not tell which codes exist.
	uselessMessage = "This promo code cannot be used here."
)

// normalize is how codes are compared: without case and surrounding blanks.
func normalize(text string) string { return strings.ToUpper(strings.TrimSpace(text)) }

// find reads a code by its text; ok is false when there is none.
func (s *Service) find(ctx context.Context, db postgres.DB, text string) (c code, ok bool, err error) {
	c, err = s.db.CodeGetByCode(ctx, db, normalize(text))
	if postgres.IsNoRows(err) {
		return c, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("read promo code: %w", err)
	}
	return c, true, nil
}

// problem is the sentence that says why a code is not valid now, "" for one that
// is: active, within its window, its event not over by the end rule.
func (s *Service) problem(ctx context.Context, db postgres.DB, c code) (string, error) {
	ends, err := s.eventEnds(ctx, db, []code{c})
	if err != nil {
		return "", err
	}
	return s.problemOf(c, ends), nil
}

// problemOf is problem where the ends of events are known.
func (s *Service) problemOf(c code, ends map[objectid.ID]time.Time) string {
	now := s.deps.Clock.Now()
	switch {
	case !c.IsActive:
		return unknownMessage
	case c.ValidUntil != nil && c.ValidUntil.Before(now):
		return expiredMessage
	case c.ValidFrom != nil && c.ValidFrom.After(now):
		return "This promo code is available only from " + c.ValidFrom.UTC().Format("2006-01-02 15:04") + " UTC."
	case c.EventID == nil:
		return ""
	}
	if end, known := ends[*c.EventID]; !known || !end.After(now) {
		return endedMessage
	}
	return ""
}

// eventEnds tells when the events of the codes end; nil when there are none.
func (s *Service) eventEnds(ctx context.Context, db postgres.DB, codes []code) (map[objectid.ID]time.Time, error) {
	var events []objectid.ID
	for _, c := range codes {
		if c.EventID != nil {
			events = append(events, *c.EventID)
		}
	}
	if len(events) == 0 {
		return nil, nil //nolint:nilnil // a nil map holds none
	}
	return s.deps.Tickets.EventEnds(ctx, db, events...)
}

// validCode finds a code that may be redeemed now: 404 for an unknown or inactive
// one, in one sentence, so that nobody learns which exist (docs/contract/promo-codes.md, Redeeming); 400 for one whose
// time or event is over, or whose time has not come.
func (s *Service) validCode(ctx context.Context, db postgres.DB, text string) (code, error) {
	c, ok, err := s.find(ctx, db, text)
	if err != nil {
		return c, err
	}
	if !ok || !c.IsActive {
		return c, fault.NotFound("Promo code")
	}
	problem, err := s.problem(ctx, db, c)
	if err == nil && problem != "" {
		err = fault.BadRequest("%s", problem)
	}
	return c, err
}

// SignupPromoCode returns the id of a code that may be given at signup now
// (docs/contract/promo-codes.md, At sign-up). Errors, with the field promo_code: 400 in one
// sentence for every other code; 429 after too many tries.
func (s *Service) SignupPromoCode(ctx context.Context, text string) (objectid.ID, error) {
	if err := s.limit(ctx); err != nil {
		return "", err
	}
	c, err := s.validCode(ctx, s.deps.Pool, text)
	return c.ID, asUseless(err)
}

// asUseless blames the field promo_code of a request, whatever is wrong with the
// code.
func asUseless(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	return errUseless()
}

func errUseless() *fault.Error { return fault.BadRequest(uselessMessage).WithField("promo_code") }

func isRedeemed(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.KindConflict && f.Message == redeemedMessage
}
