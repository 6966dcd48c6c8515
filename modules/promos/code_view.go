package promos

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/promos/internal/promosdb"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// PromoCodeBody is what everybody may see of a code.
type PromoCodeBody struct {
	Code               string        `json:"code"`
	Title              *string       `json:"title"`
	Subtitle           *string       `json:"subtitle"`
	CodeType           *string       `json:"code_type" enum:"promo,ticket"`
	Tickets            *int          `json:"tickets" doc:"Tickets that redeeming makes; null for promo"`
	DiscountFirstMonth *PromoReais   `json:"discount_first_month" doc:"Reais that the first month costs; null for ticket"`
	EventDate          *httpapi.Time `json:"event_date" nullable:"true"`
	ImageID            *objectid.ID  `json:"image_id"`
	ImageURL           *string       `json:"image_url" doc:"Public address of the image"`
	Description        *string       `json:"description"`
}

// PromoReais is an amount that the OpenAPI document calls a number.
type PromoReais struct{ money.Reais }

// Schema is a number with two decimals, or null.
func (PromoReais) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeNumber, Nullable: true, Description: "Reais that the first month costs; null for ticket",
	}
}

// PromoValidated is the answer of GET /customers/validate-promo-code (docs/contract/promo-codes.md, Validating).
type PromoValidated struct {
	Valid   bool   `json:"valid"`
	Message string `json:"message,omitempty" doc:"Why it is not valid"`
	PromoCodeBody
	Consumed *bool           `json:"consumed" doc:"Whether the caller has redeemed it; null for nobody"`
	Children []PromoCodeBody `json:"children" nullable:"true"`
}

// promoListed is a row of GET /customers/me/promo-codes.
type promoListed struct {
	PromoValidated
	Redeemed   bool          `json:"redeemed"`
	RedeemedAt *httpapi.Time `json:"redeemed_at" nullable:"true"`
}

// validate tells what a code gives. An unknown and an inactive code are answered
// alike, with nothing but the sentence.
func (s *Service) validate(ctx context.Context, caller httpapi.Caller, text string) (PromoValidated, error) {
	c, ok, err := s.find(ctx, s.deps.Pool, text)
	if err != nil {
		return PromoValidated{}, err
	}
	if !ok || !c.IsActive {
		v := PromoValidated{Message: unknownMessage, PromoCodeBody: PromoCodeBody{Code: normalize(text)}}
		if caller.ID != "" {
			v.Consumed = new(bool)
		}
		return v, nil
	}
	all, err := s.validated(ctx, s.deps.Pool, []code{c})
	if err != nil || caller.ID == "" {
		return all[0], err
	}
	v := all[0]
	r, err := s.db.RedemptionGet(ctx, s.deps.Pool,
		promosdb.RedemptionGetParams{PromoCodeID: c.ID, CustomerID: caller.ID})
	if err != nil && !postgres.IsNoRows(err) {
		return v, fmt.Errorf("read redemption: %w", err)
	}
	consumed := err == nil && r.RedeemedAt != nil
	v.Consumed = &consumed
	return v, nil
}

// validated describes codes, each at the place of its own, without regard to who
// asks. However many they are, their events and bundles are read once.
func (s *Service) validated(ctx context.Context, db postgres.DB, codes []code) ([]PromoValidated, error) {
	all := make([]PromoValidated, len(codes))
	ends, err := s.eventEnds(ctx, db, codes)
	if err != nil {
		return all, err
	}
	children, err := s.activeChildren(ctx, db, codes)
	if err != nil {
		return all, err
	}
	for i, c := range codes {
		problem := s.problemOf(c, ends)
		all[i] = PromoValidated{Valid: problem == "", Message: problem, PromoCodeBody: s.body(c)}
		if len(c.ChildrenCodeIds) == 0 {
			continue
		}
		all[i].Children = []PromoCodeBody{}
		for _, id := range c.ChildrenCodeIds {
			if child, active := children[objectid.ID(id)]; active {
				all[i].Children = append(all[i].Children, s.body(child))
			}
		}
	}
	return all, nil
}

// activeChildren are what the bundles hold, but for inactive codes.
func (s *Service) activeChildren(ctx context.Context, db postgres.DB, codes []code) (map[objectid.ID]code, error) {
	ids := []string{}
	for _, c := range codes {
		ids = append(ids, c.ChildrenCodeIds...)
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // a nil map holds none
	}
	rows, err := s.db.CodeListActive(ctx, db, ids)
	if err != nil {
		return nil, fmt.Errorf("read bundles: %w", err)
	}
	children := make(map[objectid.ID]code, len(rows))
	for _, c := range rows {
		children[c.ID] = c
	}
	return children, nil
}

func (s *Service) body(c code) PromoCodeBody {
	b := PromoCodeBody{
		Code: c.Code, Title: &c.Title, Subtitle: c.Subtitle, CodeType: &c.CodeType, Tickets: ticketsOf(c),
		EventDate: httpapi.TimePtr(c.EventDate), ImageID: c.ImageID, Description: c.Description,
	}
	if c.DiscountFirstMonthCents != nil {
		reais := PromoReais{money.Cents(*c.DiscountFirstMonthCents).Reais()}
		b.DiscountFirstMonth = &reais
	}
	if c.ImageID != nil {
		url := s.deps.Files.PublicURL(*c.ImageID)
		b.ImageURL = &url
	}
	return b
}

// visible is a page of the codes that a customer may see, newest first
// (docs/contract/promo-codes.md, Validity).
func (s *Service) visible(ctx context.Context, customerID objectid.ID) (*resource.Response, error) {
	params, err := s.codes.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, err
	}
	params.ID, params.Query, params.Sort = "", "", ""
	list, err := s.codes.Prepare(params)
	if err != nil {
		return nil, err
	}
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	now := s.deps.Clock.Now()
	total, err := s.db.CodeCountVisible(ctx, s.deps.Pool,
		promosdb.CodeCountVisibleParams{Now: &now, CustomerID: customerID.String()})
	if err != nil {
		return nil, fmt.Errorf("count promo codes: %w", err)
	}
	rows, err := s.db.CodeListVisible(ctx, s.deps.Pool, promosdb.CodeListVisibleParams{
		Now: &now, CustomerID: customerID, Target: customerID.String(), Size: int32(params.Size), Start: int32(params.Offset()), //nolint:gosec // both are bounded by the parameters
	})
	if err != nil {
		return nil, fmt.Errorf("list promo codes: %w", err)
	}
	docs, err := s.documents(ctx, rows)
	if err != nil {
		return nil, err
	}
	list.Fill(resource.Page{Docs: docs, Total: int(total)})
	return list.Envelope(ctx), nil
}

func (s *Service) documents(ctx context.Context, rows []promosdb.CodeListVisibleRow) ([]byte, error) {
	codes := make([]code, len(rows))
	for i, row := range rows {
		codes[i] = row.PromoCode
	}
	described, err := s.validated(ctx, s.deps.Pool, codes)
	if err != nil {
		return nil, err
	}
	var docs []byte
	for i, row := range rows {
		v, redeemed := described[i], row.RedeemedAt != nil
		v.Consumed = &redeemed
		doc, err := json.Marshal(promoListed{
			PromoValidated: v, Redeemed: redeemed, RedeemedAt: httpapi.TimePtr(row.RedeemedAt),
		})
		if err != nil {
			return nil, fmt.Errorf("write promo code: %w", err)
		}
		if i > 0 {
			docs = append(docs, ',')
		}
		docs = append(docs, doc...)
	}
	return docs, nil
}
