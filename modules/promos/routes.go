package promos

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"marquee/platform/httpapi"
	"marquee/platform/resource"
)

// handlers answers the module's routes.
type handlers struct{ s *Service }

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	h, envelope := handlers{s}, httpapi.ResponseSchema(s.codes.EnvelopeSchema())
	httpapi.Route(api, http.MethodGet, "/customers/validate-promo-code", "promo_code_validate", httpapi.Optional,
		h.validateCode, httpapi.Summary("What a promo code gives"))
	httpapi.Route(api, http.MethodPut, "/customers/me/redeem-promo-code", "promo_code_redeem", httpapi.Customer,
		h.redeemCode, httpapi.Summary("Redeem a promo code"))
	httpapi.Route(api, http.MethodGet, "/customers/me/promo-codes", "me_promo_code_list", httpapi.Customer,
		h.listVisible, httpapi.Summary("Promo codes on offer"), httpapi.ResponseSchema(listedSchema(api)))

	httpapi.Route(api, http.MethodGet, "/admin/promo-codes", "promo_code_list", httpapi.Admin,
		s.crud.List(s.codes.View), s.codes.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/admin/promo-codes", "promo_code_create", httpapi.Admin,
		s.crud.Create(s.codes), s.codes.CreateDoc()...)
	httpapi.Route(api, http.MethodGet, "/admin/promo-codes/stats", "promo_code_stats", httpapi.Admin, h.getStats,
		httpapi.Summary("Figures about promo codes"))
	httpapi.Route(api, http.MethodGet, "/admin/promo-codes/{id}", "promo_code_get", httpapi.Admin, h.getCode,
		httpapi.Summary("One promo code"), envelope)
	httpapi.Route(api, http.MethodPut, "/admin/promo-codes/{id}", "promo_code_update", httpapi.Admin, h.updateCode,
		httpapi.Summary("Change a promo code: the object, or an array of it"), envelope)
	httpapi.Route(api, http.MethodDelete, "/admin/promo-codes/{id}", "promo_code_delete", httpapi.Admin, h.deleteCode,
		httpapi.Summary("Delete a promo code for good"))
	api.Mount(http.MethodPost, httpapi.Prefix+imagePath, "promo_code_image_post", httpapi.Admin, h.postImage(api))
	documentPostImage(api)
	httpapi.Route(api, http.MethodDelete, imagePath, "promo_code_image_delete", httpapi.Admin, h.deleteImage,
		httpapi.Summary("Remove the image"))
}

// listedSchema is the envelope of GET /customers/me/promo-codes.
func listedSchema(api *httpapi.API) *huma.Schema {
	return huma.SchemaFromType(api.OpenAPI().Components.Schemas, reflect.TypeFor[httpapi.Envelope[promoListed]]())
}

// Search is the search over the admins' promo codes.
func (s *Service) Search() resource.Searchable {
	return resource.SearchAs(httpapi.Admin, "", s.codes.View)
}
