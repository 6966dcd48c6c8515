package promos

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

type codeInput struct {
	ID objectid.ID `path:"id" pattern:"^[0-9a-fA-F]{24}$"`
}

func (in codeInput) id() objectid.ID { id, _ := objectid.Parse(in.ID.String()); return id }

func (h handlers) getCode(ctx context.Context, in *codeInput) (*resource.Response, error) {
	return h.s.codes.One(ctx, h.s.deps.Pool, in.id())
}

type codeUpdateInput struct {
	ID   objectid.ID `path:"id" pattern:"^[0-9a-fA-F]{24}$"`
	Body resource.RawJSON
}

// updateCode takes the object, or an array of it (docs/contract/promo-codes.md, Admins).
func (h handlers) updateCode(ctx context.Context, in *codeUpdateInput) (*resource.Response, error) {
	id := codeInput{in.ID}.id()
	body, err := withID(in.Body, id)
	if err != nil {
		return nil, err
	}
	by := resource.Actor{ID: httpapi.CallerOf(ctx).ID, Now: h.s.deps.Clock.Now()}
	err = postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		_, err := h.s.codes.UpdateTx(ctx, tx, by, body)
		return err
	})
	if err != nil {
		return nil, err
	}
	return h.s.codes.One(ctx, h.s.deps.Pool, id)
}

// withID makes a body the array that the collection takes, with the id of the
// path; 422 when it names another or more than one object.
func withID(body resource.RawJSON, id objectid.ID) (resource.RawJSON, error) {
	var objects []map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte{'['}) {
		body = bytes.Join([][]byte{{'['}, body, {']'}}, nil)
	}
	if err := json.Unmarshal(body, &objects); err != nil || len(objects) != 1 || objects[0] == nil {
		return nil, fault.InvalidAt("has to be one object, or an array of one", "body")
	}
	if sent, ok := objects[0]["_id"]; ok {
		var text string
		err := json.Unmarshal(sent, &text)
		if named, malformed := objectid.Parse(text); err != nil || malformed != nil || named != id {
			return nil, fault.InvalidAt("has to be the id of the path", "body", 0, "_id")
		}
	}
	quoted, err := json.Marshal(id)
	if err != nil {
		return nil, err
	}
	objects[0]["_id"] = quoted
	return json.Marshal(objects)
}

type promoImageRemoved struct {
	Message string `json:"message"`
}

func (h handlers) deleteCode(ctx context.Context, in *codeInput) (*httpapi.EnvelopeOutput[struct{}], error) {
	err := postgres.InTx(ctx, h.s.deps.Pool, func(tx pgx.Tx) error {
		_, err := h.s.codes.DeleteTx(ctx, tx, []objectid.ID{in.id()})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &httpapi.EnvelopeOutput[struct{}]{Body: httpapi.Envelope[struct{}]{
		Docs: []struct{}{}, Msg: "1 document was deleted.",
		Links: []httpapi.Link{{LinkType: "GET", Rel: "self", Href: httpapi.SelfURL(ctx)}},
	}}, nil
}

func (h handlers) getStats(ctx context.Context, _ *struct{}) (*httpapi.Output[promoStats], error) {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	out, err := h.s.stats(ctx)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(out)
}

// limit keeps callers from guessing codes, wherever one may be given: 429.
func (s *Service) limit(ctx context.Context) error {
	return s.deps.Accounts.LimitCaller(ctx, accounts.CallerLimit{
		Kind: "promo codes", PerCaller: s.deps.Config.TriesPerMinute, PerAddress: s.deps.Config.TriesPerAddress,
	})
}

type validateInput struct {
	Code string `query:"code" required:"true" minLength:"1" maxLength:"50"`
}

func (h handlers) validateCode(ctx context.Context, in *validateInput) (*httpapi.Output[PromoValidated], error) {
	if err := h.s.limit(ctx); err != nil {
		return nil, err
	}
	v, err := h.s.validate(ctx, httpapi.CallerOf(ctx), in.Code)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(v)
}

type redeemInput struct {
	Code string `query:"code" required:"true" minLength:"3" maxLength:"50"`
}

type promoRedeemed struct {
	Message    string       `json:"message"`
	Code       string       `json:"code"`
	Title      string       `json:"title"`
	Tickets    *int         `json:"tickets" doc:"Tickets made, those of the bundle included; null when it makes none"`
	Consumed   bool         `json:"consumed"`
	RedeemedAt httpapi.Time `json:"redeemed_at"`
}

func (h handlers) redeemCode(ctx context.Context, in *redeemInput) (*httpapi.Output[promoRedeemed], error) {
	if err := h.s.limit(ctx); err != nil {
		return nil, err
	}
	c, made, at, err := h.s.redeem(ctx, httpapi.CallerOf(ctx).ID, in.Code)
	if err != nil {
		return nil, err
	}
	out := promoRedeemed{
		Message: "Promo code redeemed.", Code: c.Code, Title: c.Title, Consumed: true, RedeemedAt: httpapi.Time(at),
	}
	if made > 0 {
		out.Tickets = &made
	}
	return httpapi.OK(out)
}

func (h handlers) listVisible(ctx context.Context, _ *resource.GetInput) (*resource.Response, error) {
	return h.s.visible(ctx, httpapi.CallerOf(ctx).ID)
}
