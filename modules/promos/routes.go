package promos

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	envelope := httpapi.ResponseSchema(s.codes.EnvelopeSchema())
	httpapi.Route(api, http.MethodGet, "/customers/validate-promo-code", "promo_code_validate", httpapi.Optional,
		s.validateCode, httpapi.Summary("What a promo code gives"))
	httpapi.Route(api, http.MethodPut, "/customers/me/redeem-promo-code", "promo_code_redeem", httpapi.Customer,
		s.redeemCode, httpapi.Summary("Redeem a promo code"))
	httpapi.Route(api, http.MethodGet, "/customers/me/promo-codes", "me_promo_code_list", httpapi.Customer,
		s.listVisible, httpapi.Summary("Promo codes to be had"), httpapi.ResponseSchema(listedSchema(api)))

	httpapi.Route(api, http.MethodGet, "/admin/promo-codes", "promo_code_list", httpapi.Admin,
		s.crud.List(s.codes.View), s.codes.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/admin/promo-codes", "promo_code_create", httpapi.Admin,
		s.crud.Create(s.codes), s.codes.CreateDoc()...)
	httpapi.Route(api, http.MethodGet, "/admin/promo-codes/stats", "promo_code_stats", httpapi.Admin, s.getStats,
		httpapi.Summary("Figures about promo codes"))
	httpapi.Route(api, http.MethodGet, "/admin/promo-codes/{id}", "promo_code_get", httpapi.Admin, s.getCode,
		httpapi.Summary("One promo code"), envelope)
	httpapi.Route(api, http.MethodPut, "/admin/promo-codes/{id}", "promo_code_update", httpapi.Admin, s.updateCode,
		httpapi.Summary("Change a promo code: the object, or an array of it"), envelope)
	httpapi.Route(api, http.MethodDelete, "/admin/promo-codes/{id}", "promo_code_delete", httpapi.Admin, s.deleteCode,
		httpapi.Summary("Delete a promo code for good"))
	s.imageRoutes(api)
}

// listedSchema is the envelope of GET /customers/me/promo-codes.
func listedSchema(api *httpapi.API) *huma.Schema {
	return huma.SchemaFromType(api.OpenAPI().Components.Schemas, reflect.TypeFor[httpapi.Envelope[promoListed]]())
}

// Search is the search over the admins' promo codes.
func (s *Service) Search() resource.Searchable {
	return resource.SearchAs(httpapi.Admin, "", s.codes.View)
}
