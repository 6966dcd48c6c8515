package board

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// columnsName is the collection's name, in paths and in the audit trail.
const columnsName = "requisition-status"

// statusKnown is the foreign key of cards: a column that is still in use to who
// deletes the column, an unknown one to who writes the card.
const statusKnown = "requisitions_status_known"

// newColumns is the collection of columns (docs/contract/board.md, Columns).
func (s *Service) newColumns() *resource.Resource {
	return resource.New(resource.Definition{
		Name: columnsName, Singular: "Requisition status", Table: "board.requisition_status",
		DefaultSort: `{"index":1}`, PageSize: 100,
		Fields: []resource.Field{
			{
				Name: "name", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 100},
				Doc: "Unique",
			},
			{
				Name: "index", Kind: query.Int, Nullable: true, NullsEnd: true,
				Doc: "Place among the columns; null stands at the end",
			},
			{Name: "color", Kind: query.String, Nullable: true, Rule: resource.Rule{
				Pattern: `^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$`,
				Means:   "a color such as #RGB, #RRGGBB or #RRGGBBAA",
			}},
		},
		Constraints: map[string]resource.Violation{
			"requisition_status_name_unique": {
				Code: fault.CodeDuplicateKey, Field: "name", Message: "is already taken",
			},
			statusKnown: {Message: "The column still holds requisitions."},
		},
		Hooks: resource.Hooks{
			BeforeUpdate: func(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
				return s.holdColumns(ctx, tx, idsOf(records))
			},
			BeforeDelete: s.holdColumns,
		},
	})
}

// holdColumns locks columns that change or go.
func (s *Service) holdColumns(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	if err := s.db.StatusHoldForWrite(ctx, tx, objectid.Strings(ids)); err != nil {
		return fmt.Errorf("lock columns: %w", err)
	}
	return nil
}
