package customers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/identity"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// customerRecord is the customer's record with what GET /customers/me does not
// show.
type customerRecord struct {
	identity.CustomerDoc
	Language      string        `json:"language"`
	TrialUsedAt   *httpapi.Time `json:"trial_used_at" nullable:"true"`
	GWACustomerID *string       `json:"gwa_customer_id"`
	Labels        []string      `json:"labels"`
}

// fileRecord is a stored file without its bytes.
type fileRecord struct {
	FileID      objectid.ID  `json:"file_id"`
	Purpose     string       `json:"purpose"`
	Filename    string       `json:"filename"`
	ContentType string       `json:"content_type"`
	Size        int64        `json:"size"`
	CreatedAt   httpapi.Time `json:"created_at"`
}

// customerData collects everything that is held about the customer, of all
// modules at one instant. Passwords, codes and tokens are not among it: what is
// kept of them tells nothing. 404 when they are gone.
func (s *Customers) customerData(ctx context.Context, id objectid.ID, now time.Time) (map[string]any, error) {
	data := map[string]any{"generated_at": httpapi.Time(now)}
	err := pgx.BeginTxFunc(ctx, s.deps.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			u, err := s.db.UserGetCustomer(ctx, tx, id)
			if postgres.IsNoRows(err) {
				return identity.ErrNoCustomer()
			}
			if err != nil {
				return err
			}
			doc, err := identity.CustomerDocOf(u)
			if err != nil {
				return err
			}
			data["customer"] = customerRecord{
				CustomerDoc: doc, Language: u.Language, TrialUsedAt: httpapi.TimePtr(u.TrialUsedAt),
				GWACustomerID: u.GwaCustomerID, Labels: u.Labels,
			}
			if data["notes"], err = s.customerNoteRecords(ctx, tx, id); err != nil {
				return err
			}
			if data["files"], err = s.fileRecords(ctx, tx, id); err != nil {
				return err
			}
			if data["email_changes"], err = s.deps.Changes.RecordsOf(ctx, tx, id); err != nil {
				return err
			}
			if data["sessions"], err = s.deps.SignIns.RecordsOf(ctx, tx, id); err != nil {
				return err
			}
			if data["second_factor"], err = s.deps.Factors.RecordOf(ctx, tx, id); err != nil {
				return err
			}
			if data["passkeys"], err = s.deps.Factors.PasskeysOf(ctx, tx, id); err != nil {
				return err
			}
			for _, p := range s.above.Personal {
				if data[p.PersonalDataName()], err = p.PersonalData(ctx, tx, id, u.EmailVerified); err != nil {
					return fmt.Errorf("%s: %w", p.PersonalDataName(), err)
				}
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("collect customer's data: %w", err)
	}
	return data, nil
}

func (s *Customers) fileRecords(ctx context.Context, db postgres.DB, id objectid.ID) ([]fileRecord, error) {
	all, err := s.deps.Files.FilesOfRecords(ctx, db, identity.UserFileKind, id)
	if err != nil {
		return nil, err
	}
	records := make([]fileRecord, len(all))
	for i, f := range all {
		records[i] = fileRecord{
			FileID: f.ID, Purpose: string(f.Purpose), Filename: f.Filename, ContentType: f.ContentType, Size: f.Size,
			CreatedAt: httpapi.Time(f.CreatedAt),
		}
	}
	return records, nil
}

type dataOutput struct {
	ContentType        string `header:"Content-Type"`
	ContentDisposition string `header:"Content-Disposition"`
	Body               []byte
}

// Data answers GET /customers/me/data with a file.
func (h Handlers) Data(ctx context.Context, _ *struct{}) (*dataOutput, error) {
	now := h.s.deps.Clock.Now()
	out := &dataOutput{
		ContentType:        "application/json",
		ContentDisposition: `attachment; filename="customer-data_` + now.Format(time.DateOnly) + `.json"`,
	}
	if httpapi.HeadOnly(ctx) {
		return out, nil
	}
	data, err := h.s.customerData(ctx, httpapi.CallerOf(ctx).ID, now)
	if err != nil {
		return nil, err
	}
	if out.Body, err = json.MarshalIndent(data, "", "  "); err != nil {
		return nil, fmt.Errorf("write customer's data: %w", err)
	}
	return out, nil
}

// DataSchema describes the file: one member for each module that holds something.
func DataSchema() *huma.Schema {
	return &huma.Schema{
		Type: "object",
		Required: []string{
			"generated_at", "customer", "files", "email_changes", "sessions", "second_factor", "passkeys",
		},
		AdditionalProperties: true,
		Properties: map[string]*huma.Schema{
			"generated_at":  {Type: "string", Format: "date-time"},
			"customer":      {Type: "object", AdditionalProperties: true},
			"email_changes": {Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true}},
			"files":         {Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true}},
			"sessions":      {Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true}},
			"passkeys":      {Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true}},
			"second_factor": {Type: "object", AdditionalProperties: true},
		},
	}
}
