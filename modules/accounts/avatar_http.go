package accounts

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/files"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// avatarRoutes registers what the caller does with his own avatar; anybody sees
// it at GET /avatars/{file_id}, a route of files.
func (s *Service) avatarRoutes(api *httpapi.API) {
	h := handlers{s}
	api.Mount(http.MethodPost, httpapi.Prefix+avatarPath, "avatar_post", httpapi.SignedIn, h.postAvatar(api))
	documentPostAvatar(api)
	httpapi.Route(api, http.MethodDelete, avatarPath, "avatar_delete", httpapi.SignedIn, h.deleteAvatar)
}

const avatarPath = "/me/avatar"

type avatarSet struct {
	AvatarID objectid.ID `json:"avatar_id" doc:"File id of the avatar"`
	Message  string      `json:"message"`
}

type avatarRemoved struct {
	Message string `json:"message"`
}

// postAvatar is a plain handler: huma would read the whole form first.
func (h handlers) postAvatar(api *httpapi.API) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		set, err := h.takeAvatar(api, r)
		if err != nil {
			api.WriteError(r.Context(), w, err)
			return
		}
		httpapi.WriteJSON(w, http.StatusOK, set)
	}
}

func (h handlers) takeAvatar(api *httpapi.API, r *http.Request) (avatarSet, error) {
	caller, err := api.Authenticate(r)
	if err != nil {
		return avatarSet{}, err
	}
	img, err := h.s.files.ReceiveImage(r)
	if err != nil {
		return avatarSet{}, err
	}
	id, err := h.s.identity.SetAvatar(httpapi.WithCaller(r.Context(), caller), caller.ID, img)
	return avatarSet{AvatarID: id, Message: "Avatar updated."}, err
}

func (h handlers) deleteAvatar(ctx context.Context, _ *struct{}) (*httpapi.Output[avatarRemoved], error) {
	if err := h.s.identity.RemoveAvatar(ctx, httpapi.CallerOf(ctx).ID); err != nil {
		return nil, err
	}
	return httpapi.OK(avatarRemoved{Message: "Avatar removed."})
}

func documentPostAvatar(api *httpapi.API) {
	doc := api.OpenAPI()
	schema := func(v any) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: huma.SchemaFromType(doc.Components.Schemas, reflect.TypeOf(v))}}
	}
	doc.AddOperation(&huma.Operation{
		Method: http.MethodPost, Path: httpapi.Prefix + avatarPath, OperationID: "avatar_post", Tags: []string{"me"},
		Summary:     "Replaces the caller's avatar by a JPEG, PNG or WebP of at most MAX_IMAGE_BYTES",
		Security:    []map[string][]string{{"bearer": {}}},
		Extensions:  map[string]any{"x-auth": string(httpapi.SignedIn)},
		RequestBody: files.MultipartBody(),
		Responses: map[string]*huma.Response{
			"200":     {Description: "OK", Content: schema(avatarSet{})},
			"default": {Description: "Error", Content: schema(httpapi.ErrorBody{})},
		},
	})
}
