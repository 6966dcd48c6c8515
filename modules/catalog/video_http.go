package catalog

import (
	"context"

	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

// listVideos answers GET /videos: to admins, and to customers with an active
// subscription.
func (h handlers) listVideos(ctx context.Context, _ *resource.GetInput) (*resource.Response, error) {
	list, err := prepareVideos(ctx)
	if err != nil {
		// Who may not watch hears that first, whatever else is wrong.
		if _, denied := h.s.readViewer(ctx); denied != nil {
			return nil, denied
		}
		return nil, err
	}
	if err := h.s.fill(ctx, list); err != nil {
		return nil, resource.Report(ctx, h.s.deps.Log, err)
	}
	return list.Envelope(ctx), nil
}

// VideoSearch makes the videos searchable for whoever may list them.
func (s *Service) VideoSearch() resource.Searchable {
	return resource.Searchable{Name: "videos", View: func(ctx context.Context) (*resource.View, error) {
		_, err := s.readViewer(ctx)
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
