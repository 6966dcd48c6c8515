package subscriptions

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/modules/subscriptions/lifecycle"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// trialUsesArgs is the job that removes trials that count no more, and notes those that
// began before they were kept by tax id.
type trialUsesArgs struct{}

// Kind names the job.
func (trialUsesArgs) Kind() string { return "subscriptions_trial_uses" }

func (s *Service) recordTrials(ctx context.Context, _ trialUsesArgs) error {
	before := lifecycle.Forgotten(s.deps.Clock.Now())
	if _, err := s.db.TrialDeleteOld(ctx, s.deps.Pool, &before); err != nil {
		return fmt.Errorf("delete old trials: %w", err)
	}
	for after := objectid.ID(""); ; {
		used, err := s.deps.Accounts.TrialsSince(ctx, before, after)
		if err != nil || len(used) == 0 {
			return err
		}
		for _, t := range used {
			if err := s.base.Store.RecordTrial(ctx, s.deps.Pool, t.TaxIDMAC, t.BeganAt); err != nil {
				return err
			}
		}
		after = used[len(used)-1].CustomerID
	}
}

// Trials is what is kept of trials, as accounts asks for personal data.
func (s *Service) Trials() accounts.PersonalData { return trials{s} }

type trials struct{ s *Service }

// PersonalDataName names the part of GET /customers/me/data.
func (trials) PersonalDataName() string { return "trial_uses" }

// trialRecord is a use of a trial; the hash itself tells nobody anything.
type trialRecord struct {
	Held      string        `json:"held"`
	BeganAt   *httpapi.Time `json:"began_at"`
	KeptUntil httpapi.Time  `json:"kept_until"`
}

// PersonalData tells what is kept of the customer's tax id, also once the account is
// deleted.
func (t trials) PersonalData(ctx context.Context, db postgres.DB, customerID objectid.ID, _ bool) (any, error) {
	c, err := t.s.deps.Accounts.CustomerByID(ctx, db, customerID)
	if err != nil {
		return nil, err
	}
	var mac []byte
	if c.TaxID != "" {
		mac = t.s.deps.Accounts.TaxIDMAC(c.TaxID)
	}
	rows, err := t.s.db.TrialListOf(ctx, db, customerID, mac)
	if err != nil {
		return nil, fmt.Errorf("list trials: %w", err)
	}
	records := make([]trialRecord, len(rows))
	for i, row := range rows {
		from := row.ClaimedAt
		if row.BeganAt != nil {
			from = *row.BeganAt
		}
		records[i] = trialRecord{
			Held:    "A keyed hash of your tax_id, by which a trial is given once. It stays when the account is deleted.",
			BeganAt: httpapi.TimePtr(row.BeganAt), KeptUntil: httpapi.Time(from.AddDate(0, lifecycle.TrialMonths, 0)),
		}
	}
	return records, nil
}

// ErasePersonalDataTx keeps the hash, and not whose it was.
func (t trials) ErasePersonalDataTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	if err := t.s.db.TrialForgetOwner(ctx, tx, customerID); err != nil {
		return fmt.Errorf("forget whose trials these were: %w", err)
	}
	return nil
}
