package identity

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/files"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

// Handlers answers what callers do with their own avatar; anybody sees it at
// GET /avatars/{file_id}, a route of files.
type Handlers struct{ s *Store }

// Handlers returns what answers the routes.
func (s *Store) Handlers() Handlers { return Handlers{s} }

// AvatarPath is the path of one's own avatar.
const AvatarPath = "/me/avatar"

type avatarSet struct {
	AvatarID objectid.ID `json:"avatar_id" doc:"File id of the avatar"`
	Message  string      `json:"message"`
}

type avatarRemoved struct {
	Message string `json:"message"`
}

// Post is a plain handler: huma would read the whole form first.
func (h Handlers) Post(api *httpapi.API) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		set, err := h.take(api, r)
		if err != nil {
			api.WriteError(r.Context(), w, err)
			return
		}
		httpapi.WriteJSON(w, http.StatusOK, set)
	}
}

func (h Handlers) take(api *httpapi.API, r *http.Request) (avatarSet, error) {
	caller, err := api.Authenticate(r)
	if err != nil {
		return avatarSet{}, err
	}
	img, err := h.s.deps.Files.ReceiveImage(r)
	if err != nil {
		return avatarSet{}, err
	}
	id, err := h.s.SetAvatar(httpapi.WithCaller(r.Context(), caller), caller.ID, img)
	return avatarSet{AvatarID: id, Message: "Avatar updated."}, err
}

// Delete answers DELETE /me/avatar.
func (h Handlers) Delete(ctx context.Context, _ *struct{}) (*httpapi.Output[avatarRemoved], error) {
	if err := h.s.RemoveAvatar(ctx, httpapi.CallerOf(ctx).ID); err != nil {
		return nil, err
	}
	return httpapi.OK(avatarRemoved{Message: "Avatar removed."})
}

// DocumentPost documents the route, which no handler of huma answers.
func (h Handlers) DocumentPost(api *httpapi.API) {
	doc := api.OpenAPI()
	schema := func(v any) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{
			"application/json": {Schema: huma.SchemaFromType(doc.Components.Schemas, reflect.TypeOf(v))},
		}
	}
	doc.AddOperation(&huma.Operation{
		Method: http.MethodPost, Path: httpapi.Prefix + AvatarPath, OperationID: "avatar_post", Tags: []string{"me"},
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
