package customers

import (
	"context"

	"marquee/modules/accounts/identity"
	"marquee/platform/httpapi"
)

// GetMe answers GET /customers/me.
func (h Handlers) GetMe(ctx context.Context, _ *struct{}) (*httpapi.EnvelopeOutput[identity.CustomerDoc], error) {
	u, err := h.s.deps.Identity.CallerRow(ctx, httpapi.CallerOf(ctx).ID)
	if err != nil {
		return nil, err
	}
	return identity.CustomerEnvelope(ctx, u, nil)
}

type putMeInput struct {
	Body []meEdit `minItems:"1" maxItems:"1"`
}

// PutMe answers PUT /customers/me.
func (h Handlers) PutMe(ctx context.Context, in *putMeInput) (*httpapi.EnvelopeOutput[identity.CustomerDoc], error) {
	u, err := h.s.editCaller(ctx, httpapi.CallerOf(ctx).ID, in.Body[0])
	if err != nil {
		return nil, err
	}
	return identity.CustomerEnvelope(ctx, u, nil)
}
