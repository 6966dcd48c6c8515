package catalog

import (
	"net/http"

	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

const watchHistoryPath = "/me/watch-history"

// handlers answers the module's routes.
type handlers struct{ s *Service }

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	h := handlers{s}
	s.api = api
	s.importRoutes(api)
	httpapi.Route(api, http.MethodGet, "/videos", "video_list", httpapi.Subscriber, h.listVideos,
		append(Videos.ListDoc(), httpapi.Frequent(), httpapi.NotModified())...)
	httpapi.Route(api, http.MethodPost, "/videos", "video_create", httpapi.Admin, s.crud.Create(Videos),
		Videos.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, "/videos", "video_update", httpapi.Admin, s.crud.Update(Videos),
		Videos.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/videos", "video_delete", httpapi.Admin, s.crud.Delete(Videos),
		Videos.DeleteDoc()...)
	httpapi.Route(api, http.MethodGet, "/videos/{video_id}/stream-url", "video_stream_url", httpapi.Subscriber,
		h.getStreamURL)
	httpapi.Route(api, http.MethodPut, watchHistoryPath, "watch_history_put", httpapi.SignedIn, h.putWatchHistory)
	httpapi.Route(api, http.MethodGet, watchHistoryPath, "watch_history_get", httpapi.SignedIn, h.listWatchHistory)
	httpapi.Route(api, http.MethodDelete, watchHistoryPath, "watch_history_delete", httpapi.SignedIn,
		h.deleteWatchHistory)
	httpapi.Route(api, http.MethodGet, "/admin/customers/{id}/watch-history", "customer_watch_history", httpapi.Admin,
		h.listWatched, httpapi.Summary("What one customer has watched"))
	s.Plays.Routes(api)
	s.group(api, "/categories", "category", Categories)
	s.group(api, "/tags", "tag", Tags)
	s.group(api, "/seasons", "season", Seasons)
}

// group registers the four routes of what videos are grouped by: any signed-in
// user reads, admins write.
func (s *Service) group(api *httpapi.API, path, name string, r *resource.Resource) {
	httpapi.Route(api, http.MethodGet, path, name+"_list", httpapi.SignedIn, s.crud.List(r.View),
		append(r.ListDoc(), httpapi.Frequent())...)
	httpapi.Route(api, http.MethodPost, path, name+"_create", httpapi.Admin, s.crud.Create(r), r.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, path, name+"_update", httpapi.Admin, s.crud.Update(r), r.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, path, name+"_delete", httpapi.Admin, s.crud.Delete(r), r.DeleteDoc()...)
}
