package payments

import (
	"context"
	"errors"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
)

// gwbConfigBody is the answer of GET /gwb/config.
type gwbConfigBody struct {
	PublishableKey string `json:"publishable_key" doc:"Public key of gateway B for its client library"`
}

func (s *Service) gwbConfig(context.Context, *struct{}) (*httpapi.Output[gwbConfigBody], error) {
	if s.deps.GWBPublishableKey == "" {
		return nil, (&fault.Error{Kind: fault.Internal}).WithCause(errors.New("GWB_PUBLISHABLE_KEY is not set"))
	}
	return &httpapi.Output[gwbConfigBody]{Body: gwbConfigBody{PublishableKey: s.deps.GWBPublishableKey}}, nil
}
