package board

import (
	"net/http"

	"marquee/platform/httpapi"
)

const (
	columnsPath = "/admin/requisition-status"
	cardsPath   = "/admin/requisitions"

	getHandler      = "requisition_get"
	uploadHandler   = "requisition_file_upload"
	downloadHandler = "requisition_file_download"
	detachHandler   = "requisition_file_delete"
)

// Routes registers the module's operations. Each but the history and the events
// demands its own name in the caller's profiles (docs/contract/board.md).
func (s *Service) Routes(api *httpapi.API) {
	h, permitted := handlers{s: s, api: api}, httpapi.Permission()
	httpapi.Route(api, http.MethodGet, columnsPath, "requisition_status_get", httpapi.Admin,
		s.crud.List(s.columns.View), append(s.columns.ListDoc(), permitted)...)
	httpapi.Route(api, http.MethodPost, columnsPath, "requisition_status_post", httpapi.Admin, s.crud.Create(s.columns),
		append(s.columns.CreateDoc(), permitted)...)
	httpapi.Route(api, http.MethodPut, columnsPath, "requisition_status_put", httpapi.Admin, s.crud.Update(s.columns),
		append(s.columns.UpdateDoc(), permitted)...)
	httpapi.Route(api, http.MethodDelete, columnsPath, "requisition_status_delete", httpapi.Admin,
		s.crud.Delete(s.columns), append(s.columns.DeleteDoc(), permitted)...)

	httpapi.Route(api, http.MethodGet, cardsPath, getHandler, httpapi.Admin, s.crud.List(s.cards.View),
		append(s.cards.ListDoc(), permitted)...)
	httpapi.Route(api, http.MethodPost, cardsPath, "requisition_post", httpapi.Admin, s.crud.Create(s.cards),
		append(s.cards.CreateDoc(), permitted)...)
	httpapi.Route(api, http.MethodPut, cardsPath, "requisition_put", httpapi.Admin, s.crud.Update(s.cards),
		append(s.cards.UpdateDoc(), permitted)...)
	httpapi.Route(api, http.MethodDelete, cardsPath, "requisition_delete", httpapi.Admin, s.crud.Delete(s.cards),
		append(s.cards.DeleteDoc(), permitted)...)
	httpapi.Route(api, http.MethodGet, cardsPath+"/{id}/history", "requisition_history_get", httpapi.Admin,
		h.cardHistory, append(s.deps.Accounts.AuditDoc(), httpapi.PermissionOf(getHandler))...)

	httpapi.Route(api, http.MethodGet, cardsPath+"/events", eventsHandler, httpapi.Admin, h.events, eventsDoc(api)...)

	api.Mount(http.MethodPost, httpapi.Prefix+cardsPath+"/{id}/files", uploadHandler, httpapi.Admin, h.postFile,
		permitted)
	httpapi.Route(api, http.MethodDelete, cardsPath+"/{id}/files/{file_id}", detachHandler, httpapi.Admin, h.deleteFile,
		httpapi.Summary("Take an attachment off a requisition and delete it"),
		httpapi.ResponseSchema(s.cards.EnvelopeSchema()), permitted)
	api.Mount(http.MethodGet, httpapi.Prefix+cardsPath+"/files/{file_id}", downloadHandler, httpapi.Admin, h.getFile,
		permitted, httpapi.Stream())
	s.documentFiles(api)
}
