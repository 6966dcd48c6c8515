package customers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

// beforeCustomerUpdate checks what admins change of customers. Disabling ends
// the customer's tokens; a new e-mail ends the codes that were mailed to the old
// one, and is unverified unless the admin says otherwise.
func (s *Customers) beforeCustomerUpdate(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	customers, err := s.deps.Identity.LockUsersTx(ctx, tx, httpapi.TypeCustomer, identity.IDsOfRecords(records))
	if err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	var movedIDs []objectid.ID
	var proved []accountsdb.User
	for _, rec := range records {
		u := customers[rec.ID]
		if v, sent := rec.Value("phone"); sent && v == nil && u.Phone != nil {
			return rec.Invalid("phone", "may not be null")
		}
		if err := storeAddress(rec); err != nil {
			return err
		}
		identity.StoreTaxID(rec)
		storeLabels(rec)
		if v, _ := rec.Value("nationality"); v != nil {
			rec.Set("nationality", strings.ToUpper(fmt.Sprint(v)))
		}
		if err := identity.CheckNewNames(rec, u); err != nil {
			return err
		}
		moved, err := identity.EditLogin(rec, u)
		if err != nil {
			return err
		}
		if moved {
			movedIDs = append(movedIDs, rec.ID)
		}
		if setVerified(rec, u, moved, now) {
			proved = append(proved, u)
		}
		if v, sent := rec.Value("enable"); sent && v == false && u.Enable {
			s.deps.Identity.EndTokens(rec, u)
		}
	}
	if err := s.deps.Identity.CheckLoginsFreeTx(ctx, tx, records); err != nil {
		return err
	}
	if err := s.deps.Identity.ReserveAppearancesTx(ctx, tx, httpapi.TypeCustomer, records, customers); err != nil {
		return err
	}
	if err := s.deps.Codes.EndTx(ctx, tx, movedIDs...); err != nil {
		return err
	}
	if err := s.deps.Changes.EndTx(ctx, tx, movedIDs...); err != nil {
		return err
	}
	for _, u := range proved {
		if err := s.deps.Identity.KeepPromiseTx(ctx, tx, u); err != nil {
			return err
		}
	}
	return s.deps.Identity.ReplaceAvatarsTx(ctx, tx, records, customers)
}

// setVerified keeps email_verified_at in step with email_verified, and reports
// whether an address that was not verified becomes so.
func setVerified(rec *resource.Record, u accountsdb.User, moved bool, now time.Time) (proved bool) {
	v, sent := rec.Value("email_verified")
	verified := v == true
	switch {
	case !sent && moved, sent && !verified:
		rec.Set("email_verified", false)
		rec.Set("email_verified_at", nil)
	case verified && (moved || !u.EmailVerified):
		rec.Set("email_verified_at", now)
		return !u.EmailVerified
	}
	return false
}

// addressValidator is what signup and PUT /customers/me check an address by.
var addressValidator = httpapi.ValidatorOf[identity.Address]()

// storeAddress checks an address that was sent and completes it; 422 naming the
// member, such as address.city.
func storeAddress(rec *resource.Record) error {
	v, _ := rec.Value("address")
	raw, given := v.(json.RawMessage)
	if !given {
		return nil
	}
	var fields any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return rec.Invalid("address", "has to be an object")
	}
	if err := addressValidator.Check(fields, "body", rec.Index, "address"); err != nil {
		return err
	}
	address, err := identity.AddressOf(raw)
	if err != nil {
		return rec.Invalid("address", "has to be an object")
	}
	stored, err := identity.AddressJSON(address)
	if err != nil {
		return err
	}
	rec.Set("address", stored)
	return nil
}
