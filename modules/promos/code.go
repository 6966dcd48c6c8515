package promos

import (
	"crypto/rand"
	"fmt"
	"math/big"

	"marquee/modules/promos/internal/promosdb"
	"marquee/platform/fault"
	"marquee/platform/query"
	"marquee/platform/resource"
)

// The types of codes.
const (
	TypePromo  = "promo"  // lowers the first month of a subscription
	TypeTicket = "ticket" // gives tickets to an event
)

const (
	maxCents   = 100_000_000 // a million reais
	maxTickets = 100         // that one redemption makes
	maxBundle  = 100         // children of one code
)

// newCodes is the collection of promo codes (docs/contract/promo-codes.md).
func newCodes(s *Service) *resource.Resource {
	writes := codeWrites{s}
	return resource.New(resource.Definition{
		Name: "promo-codes", Singular: "Promo code", Table: "promos.promo_codes", Search: "t.search",
		Fields: []resource.Field{
			{
				Name: "code", Kind: query.String, Write: resource.Once, Nullable: true,
				Doc: "Stored in upper case; generated when null", Rule: resource.Rule{
					Pattern: `^[A-Za-z0-9]{6}$`, Means: "6 letters and digits",
				},
			},
			{Name: "title", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 200}},
			{Name: "subtitle", Kind: query.String, Nullable: true, Rule: resource.Rule{MaxLength: 200}},
			{Name: "description", Kind: query.String, Nullable: true, Rule: resource.Rule{MaxLength: 1000}},
			{
				Name: "code_type", Kind: query.String, Write: resource.Once,
				Rule: resource.Rule{Required: true, Enum: []string{TypePromo, TypeTicket}},
			},
			{
				Name: "discount_first_month", Column: "discount_first_month_cents", Kind: query.Cents, Nullable: true,
				Doc:  "Reais that the first month costs; for promo alone",
				Rule: resource.Rule{Min: new(int64(0)), Max: new(int64(maxCents))},
			},
			{
				Name: "bonus_tickets", Kind: query.Int, Nullable: true,
				Doc:  "Tickets of one redemption, null is 1; for ticket alone",
				Rule: resource.Rule{Min: new(int64(1)), Max: new(int64(maxTickets))},
			},
			{Name: "event_id", Kind: query.OID, Nullable: true, Doc: "Required for ticket"},
			{
				Name: "target_customer_ids", Kind: query.OID, Array: true,
				Doc: "Customers who are given a ticket at once",
			},
			{
				Name: "children_code_ids", Kind: query.OID, Array: true, Rule: resource.Rule{MaxItems: maxBundle},
				Doc: "Codes redeemed along with this one; for promo alone",
			},
			{Name: "event_date", Kind: query.Date, Nullable: true, Doc: "Listed to customers until then"},
			{Name: "valid_from", Kind: query.Date, Nullable: true},
			{Name: "valid_until", Kind: query.Date, Nullable: true},
			{Name: "image_id", Kind: query.OID, Nullable: true, Write: resource.ReadOnly, Doc: "Set by the image routes"},
			{Name: "is_active", Kind: query.Bool, Rule: resource.Rule{Default: true}},
			{
				Name: "redemptions", Kind: query.Int, Doc: "Customers who have redeemed it",
				Expr: "(SELECT count(*) FROM promos.redemptions r WHERE r.promo_code_id = t.id AND r.redeemed_at IS NOT NULL)",
			},
		},
		Constraints: map[string]resource.Violation{
			"promo_codes_code_unique": {Field: "code", Message: "is already taken"},
			"promo_codes_discount_of_promo": {
				Kind: fault.KindInvalid, Field: "discount_first_month", Message: "is for codes of type promo only",
			},
			"promo_codes_bonus_of_ticket": {
				Kind: fault.KindInvalid, Field: "bonus_tickets", Message: "is for codes of type ticket only",
			},
			"promo_codes_event_of_ticket": {
				Kind: fault.KindInvalid, Field: "event_id", Message: "is required for codes of type ticket",
			},
			"promo_codes_children_of_promo": {
				Kind: fault.KindInvalid, Field: "children_code_ids", Message: "is for codes of type promo only",
			},
			"promo_codes_window": {
				Kind: fault.KindInvalid, Field: "valid_until", Message: "has to be after valid_from",
			},
		},
		Hooks: resource.Hooks{
			BeforeCreate: writes.beforeCreate, BeforeUpdate: writes.checkReferences, BeforeDelete: writes.beforeDelete,
			AfterWrite: writes.afterWrite,
		},
	})
}

// alphabet leaves out 0, O, 1, I and L, which people mix up. 31 signs make 887
// million codes of six.
const alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

const codeLength = 6

// randomCode makes a code that cannot be guessed from another.
func randomCode() (string, error) {
	signs := make([]byte, codeLength)
	for i := range signs {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", fmt.Errorf("make a promo code: %w", err)
		}
		signs[i] = alphabet[n.Int64()]
	}
	return string(signs), nil
}

// ticketsOf is how many tickets one redemption makes; nil for a promo.
func ticketsOf(c promosdb.PromoCode) *int {
	if c.CodeType != TypeTicket {
		return nil
	}
	n := 1
	if c.BonusTickets != nil {
		n = int(*c.BonusTickets)
	}
	return &n
}
