package catalog

import (
	"context"

	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

// listVideos answers GET /videos: to admins, and to customers with an active
// subscription. HEAD is answered as GET is: the entity tag is the body's.
func (h handlers) listVideos(ctx context.Context, _ *resource.GetInput) (*resource.CachedOutput, error) {
	if httpapi.HeadOnly(ctx) {
		ctx = httpapi.InFull(ctx)
	}
	response, err := h.s.respond(ctx, httpapi.RawQuery(ctx))
	if err != nil {
		return nil, resource.Report(ctx, h.s.deps.Log, err)
	}
	return response.Output(), nil
}

// VideoSearch makes the videos searchable for whoever may list them.
func (s *Service) VideoSearch() resource.Searchable {
	return resource.Searchable{Name: "videos", View: func(ctx context.Context) (*resource.View, error) {
		_, err := s.viewers.check(ctx, httpapi.ClaimsOf(ctx))
		return Videos.View, err
	}}
}

func prepareVideos(ctx context.Context) (*resource.List, error) {
	params, err := Videos.ParseParams(httpapi.RequestURL(ctx))
	if err != nil {
		return nil, err
	}
	return Videos.Prepare(params)
}
