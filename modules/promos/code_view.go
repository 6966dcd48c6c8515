package promos

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/promos/internal/promosdb"
	"marquee/platform/collection"
	"marquee/platform/httpapi"
	"marquee/platform/money"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
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
	return &huma.Schema{Type: huma.TypeNumber, Nullable: true, Description: "Reais that the first month costs; null for ticket"}
}

// PromoValidated is the answer of GET /customers/validate-promo-code (specification,
// Promo codes).
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
	c, ok, err := s.find(ctx, s.pool, text)
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
	v, err := s.validated(ctx, s.pool, c)
	if err != nil || caller.ID == "" {
		return v, err
	}
	r, err := s.db.RedemptionGet(ctx, s.pool, promosdb.RedemptionGetParams{PromoCodeID: c.ID, CustomerID: caller.ID})
	if err != nil && !postgres.IsNoRows(err) {
		return v, fmt.Errorf("read redemption: %w", err)
	}
	consumed := err == nil && r.RedeemedAt != nil
	v.Consumed = &consumed
	return v, nil
}

// validated describes a code without regard to who asks.
func (s *Service) validated(ctx context.Context, db postgres.DB, c code) (PromoValidated, error) {
	problem, err := s.problem(ctx, db, c)
	if err != nil {
		return PromoValidated{}, err
	}
	v := PromoValidated{Valid: problem == "", Message: problem, PromoCodeBody: s.body(c)}
	if len(c.ChildrenCodeIds) == 0 {
		return v, nil
	}
	children, err := s.db.CodeListActive(ctx, db, c.ChildrenCodeIds)
	if err != nil {
		return v, fmt.Errorf("read bundle: %w", err)
	}
	bodies := make([]PromoCodeBody, len(children))
	for i, child := range children {
		bodies[i] = s.body(child)
	}
	v.Children = bodies
	return v, nil
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
		url := s.files.PublicURL(*c.ImageID)
		b.ImageURL = &url
	}
	return b
}

// visible is a page of the codes that a customer may see, newest first
// (specification, visibility rule; open-shapes, section 4, number 23).
func (s *Service) visible(ctx context.Context, customerID objectid.ID) (*collection.Answer, error) {
	params, err := s.codes.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, err
	}
	params.ID, params.Query, params.Sort = "", "", ""
	list, err := s.codes.Prepare(params)
	if err != nil {
		return nil, err
	}
	now := s.clock.Now()
	total, err := s.db.CodeCountVisible(ctx, s.pool, promosdb.CodeCountVisibleParams{Now: &now, CustomerID: customerID.String()})
	if err != nil {
		return nil, fmt.Errorf("count promo codes: %w", err)
	}
	rows, err := s.db.CodeListVisible(ctx, s.pool, promosdb.CodeListVisibleParams{
		Now: &now, CustomerID: customerID, Target: customerID.String(), Size: int32(params.Size), Start: int32(params.Offset()),
	})
	if err != nil {
		return nil, fmt.Errorf("list promo codes: %w", err)
	}
	docs, err := s.documents(ctx, rows)
	if err != nil {
		return nil, err
	}
	list.Fill(collection.Page{Docs: docs, Total: int(total)})
	return list.Envelope(ctx), nil
}

func (s *Service) documents(ctx context.Context, rows []promosdb.CodeListVisibleRow) ([]byte, error) {
	var docs []byte
	for i, row := range rows {
		v, err := s.validated(ctx, s.pool, row.PromoCode)
		if err != nil {
			return nil, err
		}
		redeemed := row.RedeemedAt != nil
		v.Consumed = &redeemed
		doc, err := json.Marshal(promoListed{PromoValidated: v, Redeemed: redeemed, RedeemedAt: httpapi.TimePtr(row.RedeemedAt)})
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
