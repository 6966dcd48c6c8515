package promos

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"marquee/modules/files"
	"marquee/modules/promos/internal/promosdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// fileKind is how files know promo codes.
const fileKind = "promo_code"

const imagePath = "/admin/promo-codes/{id}/image"

type promoImageSet struct {
	ImageID  objectid.ID `json:"image_id"`
	ImageURL string      `json:"image_url" doc:"Public address"`
	Message  string      `json:"message"`
}

// postImage is a plain handler: huma would read the whole form first.
func (h handlers) postImage(api *httpapi.API) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		set, err := h.takeImage(api, r)
		if err != nil {
			api.WriteError(r.Context(), w, err)
			return
		}
		httpapi.WriteJSON(w, http.StatusOK, set)
	}
}

func (h handlers) takeImage(api *httpapi.API, r *http.Request) (promoImageSet, error) {
	caller, err := api.Authenticate(r)
	if err == nil {
		err = httpapi.Allowed(caller, httpapi.Admin, "")
	}
	if err != nil {
		return promoImageSet{}, err
	}
	id, err := objectid.Parse(r.PathValue("id"))
	if err != nil {
		return promoImageSet{}, fault.InvalidAt(err.Error(), "path", "id")
	}
	if known, err := h.s.db.CodeExists(r.Context(), h.s.deps.Pool, id); err != nil || !known {
		return promoImageSet{}, missing(err)
	}
	img, err := h.s.deps.Files.ReceiveImage(r)
	if err != nil {
		return promoImageSet{}, err
	}
	file, err := h.s.setImage(httpapi.WithCaller(r.Context(), caller), id, caller.ID, img)
	return promoImageSet{ImageID: file, ImageURL: h.s.deps.Files.PublicURL(file), Message: "Image updated."}, err
}

// setImage replaces the image, and deletes the old one.
func (s *Service) setImage(ctx context.Context, id, by objectid.ID, img files.Image) (file objectid.ID, err error) {
	err = s.changeImage(ctx, id, func(tx pgx.Tx) (*objectid.ID, error) {
		stored, err := s.deps.Files.StoreImageTx(ctx, tx, img,
			files.Place{Purpose: files.PromoImage, Kind: fileKind, RecordID: id, CreatedBy: by})
		file = stored.ID
		return &file, err
	})
	return file, err
}

// changeImage locks the code, deletes its image, if it has one, and shows the one
// that store keeps, nil for none.
func (s *Service) changeImage(ctx context.Context, id objectid.ID, store func(pgx.Tx) (*objectid.ID, error)) error {
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if _, err := s.db.CodeLock(ctx, tx, id); err != nil {
			if postgres.IsNoRows(err) {
				err = nil
			}
			return missing(err)
		}
		return s.codes.AuditTx(ctx, tx, []objectid.ID{id}, func() error {
			if err := s.deps.Files.DeletePurposeTx(ctx, tx, fileKind, id, files.PromoImage); err != nil {
				return err
			}
			file, err := store(tx)
			if err != nil {
				return err
			}
			return s.db.CodeSetImage(ctx, tx,
				promosdb.CodeSetImageParams{ID: id, ImageID: file, Now: s.deps.Clock.Now()})
		})
	})
}

func (h handlers) deleteImage(ctx context.Context, in *codeInput) (*httpapi.Output[promoImageRemoved], error) {
	if err := h.s.changeImage(ctx, in.id(), func(pgx.Tx) (*objectid.ID, error) { return nil, nil }); err != nil {
		return nil, err
	}
	return httpapi.OK(promoImageRemoved{Message: "Image removed."})
}

// missing is 404, unless reading failed for another reason.
func missing(err error) error {
	if err != nil {
		return fmt.Errorf("read promo code: %w", err)
	}
	return fault.NotFound("Promo code")
}

func documentPostImage(api *httpapi.API) {
	doc := api.OpenAPI()
	schema := func(v any) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{
			"application/json": {Schema: huma.SchemaFromType(doc.Components.Schemas, reflect.TypeOf(v))},
		}
	}
	doc.AddOperation(&huma.Operation{
		Method: http.MethodPost, Path: httpapi.Prefix + imagePath, OperationID: "promo_code_image_post",
		Tags:       []string{"admin promo-codes"},
		Summary:    "Replaces the image by a JPEG, PNG or WebP of at most MAX_IMAGE_BYTES",
		Security:   []map[string][]string{{"bearer": {}}},
		Extensions: map[string]any{"x-auth": string(httpapi.Admin)},
		Parameters: []*huma.Param{
			{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
		},
		RequestBody: files.MultipartBody(),
		Responses: map[string]*huma.Response{
			"200":     {Description: "OK", Content: schema(promoImageSet{})},
			"default": {Description: "Error", Content: schema(httpapi.ErrorBody{})},
		},
	})
}

// FileRecords tells files what there is to know about images of promo codes.
func (s *Service) FileRecords() files.Records { return codeImages{s} }

type codeImages struct{ s *Service }

func (codeImages) FileKind() string { return fileKind }

// FilePlace refuses uploads through the file routes: images have their own.
func (codeImages) FilePlace(context.Context, objectid.ID) (files.Place, bool, error) {
	return files.Place{}, false, nil
}

// AbandonedFiles are those that no code shows.
func (i codeImages) AbandonedFiles(ctx context.Context, refs []files.Ref) ([]objectid.ID, error) {
	ids := make([]string, len(refs))
	for n, ref := range refs {
		ids[n] = ref.FileID.String()
	}
	images, err := i.s.db.CodeListImages(ctx, i.s.deps.Pool, ids)
	if err != nil {
		return nil, fmt.Errorf("list images of promo codes: %w", err)
	}
	used := make(map[string]bool, len(images))
	for _, id := range images {
		used[id] = true
	}
	var gone []objectid.ID
	for _, ref := range refs {
		if !used[ref.FileID.String()] {
			gone = append(gone, ref.FileID)
		}
	}
	return gone, nil
}
