package trail

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/modules/accounts/internal/accountsdb"
	"marquee/platform/audit"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// auditPlatform is the actor of what the platform decides by itself.
const auditPlatform = "platform"

// Watches reports whether an admin is behind the request, or the platform decides by
// itself. What else customers and jobs write stands in the histories of the records
// themselves.
func (s *Trail) Watches(ctx context.Context) bool {
	return audit.PlatformAction(ctx) != "" || httpapi.CallerOf(ctx).IsAdmin()
}

// RecordTx adds changes to the audit trail, in the transaction that makes them:
// who made them, by which handler and path, and the request's id come from the
// context. Of a change, only the members that differ are kept; members with the
// name of a secret are masked; of a deleted customer only that they were is told.
func (s *Trail) RecordTx(ctx context.Context, tx pgx.Tx, changes ...audit.Change) error {
	now, actor, name, action := s.deps.Clock.Now(), httpapi.CallerOf(ctx).ID, httpapi.CallerOf(ctx).Username,
		httpapi.HandlerName(ctx)
	path := httpapi.RequestURL(ctx).Path
	if platform := audit.PlatformAction(ctx); platform != "" {
		actor, name, action, path = "", auditPlatform, platform, ""
	}
	rows := make([]accountsdb.AuditInsertParams, len(changes))
	for i, c := range changes {
		if c.Resource == identity.CustomersName && c.After == nil {
			c.Before = nil
		}
		before, after, err := fieldsOf(c)
		if err != nil {
			return fmt.Errorf("audit %s: %w", action, err)
		}
		rows[i] = accountsdb.AuditInsertParams{
			ID: objectid.At(now), At: now, ActorID: nullable.Ptr(actor), ActorName: name, Action: action,
			Path: path, Resource: c.Resource, RecordID: nullable.Ptr(c.RecordID),
			Before: before, After: after, RequestID: httpapi.RequestID(ctx),
		}
	}
	var failed error
	s.db.AuditInsert(ctx, tx, rows).Exec(func(_ int, err error) {
		if err != nil && failed == nil {
			failed = fmt.Errorf("write audit trail: %w", err)
		}
	})
	return failed
}

// ChangedByTx is who changed a record at an instant, or first after it: their username at that
// time; "" where no entry says, as of changes by customers, events and jobs.
func (s *Trail) ChangedByTx(ctx context.Context, tx pgx.Tx, resource string, recordID objectid.ID,
	at time.Time,
) (string, error) {
	name, err := s.db.AuditGetChanger(ctx, tx,
		accountsdb.AuditGetChangerParams{RecordID: &recordID, Resource: resource, Since: at})
	if postgres.IsNoRows(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read audit trail: %w", err)
	}
	return name, nil
}

// EraseAuditTx takes out what the trail says of a record's fields, because the
// person it speaks of is deleted. That the changes happened stays.
func (s *Trail) EraseAuditTx(ctx context.Context, tx pgx.Tx, recordID objectid.ID) error {
	now := s.deps.Clock.Now()
	if err := s.db.AuditErase(ctx, tx, accountsdb.AuditEraseParams{RecordID: &recordID, Now: &now}); err != nil {
		return fmt.Errorf("erase audit trail: %w", err)
	}
	return nil
}

// EraseCustomerNotesAuditTx is EraseAuditTx for the notes about a customer.
func (s *Trail) EraseCustomerNotesAuditTx(ctx context.Context, tx pgx.Tx, customerID objectid.ID) error {
	now := s.deps.Clock.Now()
	err := s.db.AuditEraseCustomerNotes(ctx, tx, accountsdb.AuditEraseCustomerNotesParams{
		CustomerID: customerID.String(), Now: &now,
	})
	if err != nil {
		return fmt.Errorf("erase audit trail of notes: %w", err)
	}
	return nil
}

// fieldsOf returns both sides as the trail keeps them.
func fieldsOf(c audit.Change) (before, after json.RawMessage, err error) {
	from, err := members(c.Before)
	if err != nil {
		return nil, nil, err
	}
	to, err := members(c.After)
	if err != nil {
		return nil, nil, err
	}
	if from != nil && to != nil {
		dropEqual(from, to)
	}
	if before, err = masked(from); err != nil {
		return nil, nil, err
	}
	after, err = masked(to)
	return before, after, err
}

// members splits an object; nil for nil.
func members(v any) (map[string]json.RawMessage, error) {
	if v == nil {
		return nil, nil //nolint:nilnil // no object is a side that is not there
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write fields: %w", err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("the fields are no object: %w", err)
	}
	return object, nil
}

// dropEqual leaves the members that differ, without the instants that every
// write moves.
func dropEqual(from, to map[string]json.RawMessage) {
	for name, value := range from {
		if bytes.Equal(value, to[name]) {
			delete(from, name)
			delete(to, name)
		}
	}
	for _, name := range []string{"updated_at", "register_update_date"} {
		delete(from, name)
		delete(to, name)
	}
}

// secretName matches members that no trail may hold.
var secretName = regexp.MustCompile(`(?i)^password(_hash)?$|_hash$|secret|(^|_)token$|(^|_)cvv$|^card_number$|_code_(hash|mac)$|_attempts$`)

// Mask stands where a secret was.
const Mask = "[hidden]"

func masked(object map[string]json.RawMessage) (json.RawMessage, error) {
	if object == nil {
		return nil, nil
	}
	var fields any
	raw, err := json.Marshal(object)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		err = decoder.Decode(&fields)
	}
	if err == nil {
		raw, err = json.Marshal(maskSecrets(fields))
	}
	if err != nil {
		return nil, fmt.Errorf("mask fields: %w", err)
	}
	return raw, nil
}

func maskSecrets(v any) any {
	switch at := v.(type) {
	case map[string]any:
		for name, value := range at {
			if at[name] = Mask; !secretName.MatchString(name) {
				at[name] = maskSecrets(value)
			}
		}
	case []any:
		for i, value := range at {
			at[i] = maskSecrets(value)
		}
	}
	return v
}
