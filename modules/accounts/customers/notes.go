package customers

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// labelRule bounds the words by which staff sort customers.
var labelRule = resource.Rule{MaxItems: 20, MinLength: 1, MaxLength: 40, Check: labelFlaw}

// labelFlaw says what is wrong with labels, which show what they hold as names do; "" for nothing.
func labelFlaw(value any) string {
	labels, _ := value.([]string)
	for _, label := range labels {
		if flaw := identity.NameFlaw(label); flaw != "" {
			return flaw
		}
	}
	return ""
}

// storeLabels leaves out labels that differ from an earlier one by case, or by spaces around them, alone.
func storeLabels(rec *resource.Record) {
	v, _ := rec.Value("labels")
	labels, sent := v.([]string)
	if !sent {
		return
	}
	seen, distinct := map[string]bool{}, []string{}
	for _, label := range labels {
		if key := strings.ToLower(strings.TrimSpace(label)); !seen[key] {
			seen[key], distinct = true, append(distinct, label)
		}
	}
	rec.Set("labels", distinct)
}

// newCustomerNotes is the collection of what staff write down about customers
// (docs/contract/staff.md, Notes and labels).
func (s *Customers) newCustomerNotes() *resource.Resource {
	return resource.New(resource.Definition{
		Name: "customer-notes", Singular: "Note", Schema: "CustomerNote", Table: "accounts.customer_notes",
		DefaultSort: `{"pinned":-1,"register_date":-1}`,
		Fields: []resource.Field{
			{
				Name: "customer_id", Kind: query.OID, Write: resource.Once, Rule: resource.Rule{Required: true},
				Doc: "Whom it is about",
			},
			{Name: "text", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 4000}},
			{Name: "pinned", Kind: query.Bool, Rule: resource.Rule{Default: false}, Doc: "Shown before the others"},
		},
		Hooks: resource.Hooks{BeforeCreate: s.beforeCustomerNotes},
	})
}

// beforeCustomerNotes locks the customers that notes are about, so that none is written beside a deletion.
func (s *Customers) beforeCustomerNotes(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	ids := make([]objectid.ID, len(records))
	for i, rec := range records {
		v, _ := rec.Value("customer_id")
		ids[i] = objectid.ID(fmt.Sprint(v))
	}
	there, err := s.deps.Identity.LockUsersTx(ctx, tx, httpapi.TypeCustomer, ids)
	if err != nil {
		return err
	}
	for i, rec := range records {
		if _, found := there[ids[i]]; !found {
			return rec.Invalid("customer_id", "names an unknown customer")
		}
	}
	return nil
}

// customerNoteRecord is a note in the export of a customer's data.
type customerNoteRecord struct {
	Text      string       `json:"text"`
	Pinned    bool         `json:"pinned"`
	CreatedAt httpapi.Time `json:"created_at"`
	UpdatedAt httpapi.Time `json:"updated_at"`
}

func (s *Customers) customerNoteRecords(ctx context.Context, db postgres.DB,
	id objectid.ID,
) ([]customerNoteRecord, error) {
	all, err := s.db.CustomerNoteList(ctx, db, id)
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	records := make([]customerNoteRecord, len(all))
	for i, n := range all {
		records[i] = customerNoteRecord{
			n.Text, n.Pinned, httpapi.Time(n.RegisterDate), httpapi.Time(n.RegisterUpdateDate),
		}
	}
	return records, nil
}

// eraseCustomerNotesTx takes the notes about a customer out, and what the audit trail says of them.
func (s *Customers) eraseCustomerNotesTx(ctx context.Context, tx pgx.Tx, id objectid.ID) error {
	if err := s.deps.Trail.EraseCustomerNotesAuditTx(ctx, tx, id); err != nil {
		return err
	}
	if err := s.db.CustomerNoteDeleteAll(ctx, tx, id); err != nil {
		return fmt.Errorf("delete notes: %w", err)
	}
	return nil
}

// CustomerNotes is /customer-notes.
func (s *Customers) CustomerNotes() *resource.Resource { return s.customerNotes }
