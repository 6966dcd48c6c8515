package accounts

import (
	"net/http"

	"marquee/platform/httpapi"
)

// adminRoutes registers what admins do with users, customers, profiles and the
// audit trail.
func (s *Service) adminRoutes(api *httpapi.API) {
	h, c, audit := handlers{s}, s.collections, s.trail.Entries()
	customers, admin := s.customers.Collection(), s.customers.Handlers()
	httpapi.Route(api, http.MethodGet, "/users", "user_list", httpapi.Admin, c.routes.List(c.users.View), c.users.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/users", "user_create", httpapi.Admin, c.routes.Create(c.users), c.users.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, "/users", "user_update", httpapi.Admin, c.routes.Update(c.users), c.users.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/users", "user_delete", httpapi.Admin, c.routes.Delete(c.users), c.users.DeleteDoc()...)
	httpapi.Route(api, http.MethodGet, "/users-type", "users_type_list", httpapi.Root, c.routes.List(c.profiles.View), c.profiles.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/users-type", "users_type_create", httpapi.Root, c.routes.Create(c.profiles), c.profiles.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, "/users-type", "users_type_update", httpapi.Root, c.routes.Update(c.profiles), c.profiles.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/users-type", "users_type_delete", httpapi.Root, c.routes.Delete(c.profiles), c.profiles.DeleteDoc()...)
	httpapi.Route(api, http.MethodGet, "/my-user", "my_user_get", httpapi.Admin, h.getMyUser, httpapi.ResponseSchema(c.myUser.EnvelopeSchema()))
	httpapi.Route(api, http.MethodPut, "/my-user", "my_user_put", httpapi.Admin, h.putMyUser, c.myUser.UpdateDocWith(provingFields())...)
	httpapi.Route(api, http.MethodGet, "/customers", "customer_list", httpapi.Admin, c.routes.List(customers.View), customers.ListDoc()...)
	httpapi.Route(api, http.MethodPut, "/customers", "customer_update", httpapi.Admin, c.routes.Update(customers), customers.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/customers", "customer_delete", httpapi.Admin, c.routes.Delete(customers), customers.DeleteDoc()...)
	httpapi.Route(api, http.MethodPost, "/admin/customers/{id}/verify-email", "customer_admin_verify_email", httpapi.Admin, admin.VerifyEmail)
	httpapi.Route(api, http.MethodPost, "/admin/customers/{id}/toggle-active", "customer_toggle_active", httpapi.Admin, admin.ToggleActive)
	httpapi.Route(api, http.MethodGet, "/audit-log", "audit_log_list", httpapi.Admin, c.routes.List(audit.View), audit.ListDoc()...)
}
