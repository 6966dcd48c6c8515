package promos

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"marquee/modules/promos/internal/promosdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/resource"
)

// codeWrites is what is done with codes when they are written.
type codeWrites struct{ s *Service }

func (w codeWrites) beforeCreate(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	if err := w.fillCodes(ctx, tx, records); err != nil {
		return err
	}
	return w.checkReferences(ctx, tx, records)
}

// beforeDelete takes the codes out of the bundles that hold them, and their
// images away.
func (w codeWrites) beforeDelete(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	if err := w.s.db.CodeLockBundles(ctx, tx); err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.s.db.CodeDropFromBundles(ctx, tx, id.String()); err != nil {
			return err
		}
		if err := w.s.deps.Files.DeleteOfRecordTx(ctx, tx, fileKind, id); err != nil {
			return err
		}
	}
	return nil
}

// afterWrite refuses cycles and gives targets their tickets.
func (w codeWrites) afterWrite(ctx context.Context, tx pgx.Tx, ids []objectid.ID) error {
	cyclic, err := w.s.db.CodeListCycles(ctx, tx, objectid.Strings(ids))
	if err != nil {
		return err
	}
	if len(cyclic) > 0 {
		at := slices.Index(ids, objectid.ID(cyclic[0]))
		return fault.InvalidAt("may not lead back to the code itself", "body", at, "children_code_ids")
	}
	written, err := w.s.db.CodeList(ctx, tx, objectid.Strings(ids))
	if err != nil {
		return err
	}
	slices.SortFunc(written, byEvent)
	if err := w.keepTargetsTx(ctx, tx, written); err != nil {
		return err
	}
	for _, c := range written {
		if err := w.giveTargetsTx(ctx, tx, c); err != nil {
			return err
		}
	}
	return nil
}

// fillCodes brings given codes into upper case and makes up the others.
func (w codeWrites) fillCodes(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	open := make(map[string]*resource.Record)
	for _, rec := range records {
		value, _ := rec.Value("code")
		if given, ok := value.(string); ok {
			rec.Set("code", strings.ToUpper(given))
			continue
		}
		if err := propose(open, rec); err != nil {
			return err
		}
	}
	for len(open) > 0 {
		proposed := make([]string, 0, len(open))
		for c, rec := range open {
			rec.Set("code", c)
			proposed = append(proposed, c)
		}
		taken, err := w.s.db.CodeListTaken(ctx, tx, proposed)
		if err != nil {
			return err
		}
		again := make(map[string]*resource.Record)
		for _, c := range taken {
			if err := propose(again, open[c]); err != nil {
				return err
			}
		}
		open = again
	}
	return nil
}

func propose(open map[string]*resource.Record, rec *resource.Record) error {
	for {
		c, err := randomCode()
		if err != nil {
			return err
		}
		if open[c] == nil {
			open[c] = rec
			return nil
		}
	}
}

// checkReferences refuses events, customers and children that are not there. The
// ids of lists are kept once each.
func (w codeWrites) checkReferences(ctx context.Context, tx pgx.Tx, records []*resource.Record) error {
	for _, rec := range records {
		if err := w.checkEvent(ctx, tx, rec); err != nil {
			return err
		}
		if err := w.checkTargets(ctx, tx, rec); err != nil {
			return err
		}
		if err := w.checkChildren(ctx, tx, rec); err != nil {
			return err
		}
	}
	return nil
}

func (w codeWrites) checkEvent(ctx context.Context, tx pgx.Tx, rec *resource.Record) error {
	value, _ := rec.Value("event_id")
	id, given := value.(string)
	if !given {
		return nil
	}
	ends, err := w.s.deps.Tickets.EventEnds(ctx, tx, objectid.ID(id))
	if err != nil {
		return err
	}
	if _, known := ends[objectid.ID(id)]; !known {
		return rec.Invalid("event_id", "has to be a known event")
	}
	return nil
}

func (w codeWrites) checkTargets(ctx context.Context, tx pgx.Tx, rec *resource.Record) error {
	targets := idsOf(distinct(rec, "target_customer_ids"))
	if len(targets) == 0 {
		return nil
	}
	known, err := w.s.deps.Accounts.CustomersByID(ctx, tx, targets)
	if err != nil {
		return err
	}
	for _, id := range targets {
		if _, ok := known[id]; !ok {
			return rec.Invalid("target_customer_ids", "holds an unknown customer: "+id.String())
		}
	}
	return nil
}

func (w codeWrites) checkChildren(ctx context.Context, tx pgx.Tx, rec *resource.Record) error {
	children := distinct(rec, "children_code_ids")
	if len(children) == 0 {
		return nil
	}
	if err := w.s.db.CodeLockBundles(ctx, tx); err != nil {
		return err
	}
	known, err := w.s.db.CodeList(ctx, tx, children)
	if err != nil {
		return err
	}
	if len(known) < len(children) {
		return rec.Invalid("children_code_ids", "holds an unknown promo code")
	}
	return nil
}

// distinct keeps each id of a list once, and returns them; none when the body has
// not sent the list.
func distinct(rec *resource.Record, column string) []string {
	value, _ := rec.Value(column)
	list, ok := value.([]string)
	if !ok {
		return nil
	}
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	if list == nil {
		list = []string{}
	}
	rec.Set(column, list)
	return list
}

// giveTargetsTx gives a ticket to each target who has not redeemed the code
// (docs/contract/promo-codes.md, Redeeming); that is their redemption.
func (w codeWrites) giveTargetsTx(ctx context.Context, tx pgx.Tx, c code) error {
	if c.CodeType != TypeTicket || len(c.TargetCustomerIds) == 0 {
		return nil
	}
	given, err := w.s.db.RedemptionInsertTargets(ctx, tx, promosdb.RedemptionInsertTargetsParams{
		PromoCodeID: c.ID, Code: c.Code, CodeType: c.CodeType, Now: w.s.deps.Clock.Now(),
		CustomerIds: c.TargetCustomerIds,
	})
	if err != nil {
		return fmt.Errorf("record targets: %w", err)
	}
	if len(given) == 0 {
		return nil
	}
	var actor *objectid.ID
	if admin := httpapi.CallerOf(ctx).ID; admin != "" {
		actor = &admin
	}
	return w.s.issueTx(ctx, tx, c, given, actor)
}

// keepTargetsTx has the targets of all codes known to tickets before the first
// event is locked.
func (w codeWrites) keepTargetsTx(ctx context.Context, tx pgx.Tx, codes []code) error {
	var targets []objectid.ID
	for _, c := range codes {
		if c.CodeType != TypeTicket {
			continue
		}
		targets = append(targets, idsOf(c.TargetCustomerIds)...)
	}
	if len(targets) == 0 {
		return nil
	}
	return w.s.deps.Tickets.KeepCustomersTx(ctx, tx, targets...)
}

func byEvent(a, b code) int { return strings.Compare(idText(a.EventID), idText(b.EventID)) }

func idText(id *objectid.ID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

func idsOf(texts []string) []objectid.ID {
	all := make([]objectid.ID, len(texts))
	for i, text := range texts {
		all[i] = objectid.ID(text)
	}
	return all
}
