package board

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// cardsName is the collection's name, in paths and in the audit trail.
const cardsName = "requisitions"

// unknownStatus is said of a status_id that names no column.
const unknownStatus = "names an unknown requisition status"

// filesSQL is the JSON of a card's attachments, oldest first.
const filesSQL = `(SELECT coalesce(jsonb_agg(jsonb_build_object('file_id', a.file_id, 'filename', a.filename, 'content_type', a.content_type, 'size', a.size)
	ORDER BY a.attached_at, a.file_id), '[]') FROM board.attachments a WHERE a.requisition_id = t.id)`

// newCards is the collection of cards (docs/contract/board.md, Cards).
func (s *Service) newCards() *resource.Resource {
	return resource.New(resource.Definition{
		Name: cardsName, Singular: "Requisition", Table: "board.requisitions",
		From:        "board.requisitions t JOIN board.requisition_status c ON c.id = t.status_id",
		DefaultSort: `{"register_update_date":-1}`, Search: "t.search",
		Fields: []resource.Field{
			{Name: "name", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 200}},
			{
				Name: "status_id", Kind: query.OID, Rule: resource.Rule{Required: true},
				Doc: "Column that the card is in",
			},
			{Name: "status_name", Expr: "c.name", Kind: query.String, Doc: "Name of that column"},
			{Name: "description", Kind: query.String, Array: true, Doc: "Paragraphs"},
			{
				Name: "priority", Kind: query.String, Rule: resource.Rule{Default: "medium", MaxLength: 50},
				Doc: "Free text; by convention low, medium, high or urgent",
			},
			{
				Name: "files", Expr: filesSQL, Kind: query.JSON, OIDPaths: []string{"file_id"},
				Doc: "Attachments: file_id, filename, content_type, size in bytes",
			},
		},
		Constraints: map[string]resource.Violation{
			statusKnown: {Kind: fault.KindInvalid, Field: "status_id", Message: unknownStatus},
		},
		Hooks: resource.Hooks{
			BeforeCreate: s.holdStatuses, BeforeUpdate: s.holdStatuses, BeforeDelete: s.beforeCardsDelete,
		},
	})
}

// RequisitionSearch makes the cards searchable by those who may list them.
func (s *Service) RequisitionSearch() resource.Searchable {
	return resource.SearchAs(httpapi.Admin, getHandler, s.cards.View)
}

// holdStatuses refuses unknown columns and keeps the known ones until the cards
// that enter them are written.
func (s *Service) holdStatuses(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	var wanted []string
	for _, rec := range records {
		if id, ok := statusOf(rec); ok {
			wanted = append(wanted, id)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	known, err := s.db.StatusHoldForUse(ctx, tx, wanted)
	if err != nil {
		return fmt.Errorf("hold columns: %w", err)
	}
	for _, rec := range records {
		if id, ok := statusOf(rec); ok && !slices.Contains(known, objectid.ID(id)) {
			return rec.Invalid("status_id", unknownStatus)
		}
	}
	return nil
}

func statusOf(rec *resource.Record) (string, bool) {
	value, _ := rec.Value("status_id")
	id, ok := value.(string)
	return id, ok
}

// beforeCardsDelete locks the cards, so that no attachment joins them any more,
// and deletes the files that hang on them.
func (s *Service) beforeCardsDelete(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	if err := s.db.RequisitionHold(ctx, tx, objectid.Strings(ids)); err != nil {
		return fmt.Errorf("lock requisitions: %w", err)
	}
	for _, id := range ids {
		if err := s.deps.Files.DeleteOfRecordTx(ctx, tx, fileKind, id); err != nil {
			return err
		}
	}
	return nil
}

// card reads an id of a path; 404 unless it names a card.
func (s *Service) card(ctx context.Context, text string) (objectid.ID, error) {
	id, err := objectid.Parse(text)
	if err != nil {
		return "", errNoCard()
	}
	there, err := s.db.RequisitionExists(ctx, s.deps.Pool, id)
	if err != nil {
		return "", fmt.Errorf("look for requisition: %w", err)
	}
	if !there {
		return "", errNoCard()
	}
	return id, nil
}

func errNoCard() *fault.Error { return fault.NotFound("Requisition") }

type historyInput struct {
	ID string `path:"id" doc:"The requisition's _id"`
}

// cardHistory answers GET /admin/requisitions/{id}/history with what the audit
// trail says about the card, the newest change first. That of a deleted card
// stays; 404 when there has never been one of that id.
func (h handlers) cardHistory(ctx context.Context, in *historyInput) (*resource.Response, error) {
	id, err := objectid.Parse(in.ID)
	if err != nil {
		return nil, errNoCard()
	}
	res, total, err := h.s.deps.Accounts.AuditOf(httpapi.InFull(ctx), cardsName,
		id) // in full: whether it is empty tells whether there was the card
	if err != nil || total > 0 {
		return res, err
	}
	if _, err := h.s.card(ctx, in.ID); err != nil {
		return nil, err
	}
	return res, nil
}
