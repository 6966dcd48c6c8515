package files

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/image"
	"marquee/platform/objectid"
)

// Bounds of the width that a client may ask for, in pixels.
const (
	minAvatarWidth = 16
	maxAvatarWidth = 1024
)

// variantTime bounds the making of one scaled avatar, waiting for a slot
// included.
const variantTime = 30 * time.Second

// getAvatar is GET /avatars/{file_id}: as stored without parameters, else scaled
// down and encoded as asked for.
func (h handlers) getAvatar(w http.ResponseWriter, r *http.Request) error {
	options, err := avatarOptions(r.URL.Query())
	if err != nil {
		return err
	}
	id, err := objectid.Parse(chi.URLParam(r, "file_id"))
	if err != nil {
		return errNoFile()
	}
	f, err := h.s.File(r.Context(), id)
	if err != nil {
		return err
	}
	if f.Purpose != Avatar {
		return errNoFile()
	}
	if options == (image.Options{}) {
		h.s.serve(w, r, f, cachePublic)
		return nil
	}
	return h.serveVariant(w, r, f, options)
}

// serveVariant answers with a scaled avatar. Its entity tag follows from what is
// asked for, so a client that has it costs no scaling.
func (h handlers) serveVariant(w http.ResponseWriter, r *http.Request, f File, o image.Options) error {
	tag := fmt.Sprintf(`"%s-%d-%d-%s"`, entityTag(f), o.Width, o.Quality, o.Format)
	known := r.Header.Get("If-None-Match") == tag
	unscaled := httpapi.HeadOnly(r.Context()) && !known
	var picture image.Picture
	if !known && !unscaled {
		var err error
		if picture, err = h.s.avatarVariant(r.Context(), f, o); err != nil {
			return err
		}
	}
	head := w.Header()
	head.Set("Content-Type", f.ContentType)
	if o.Format != "" {
		head.Set("Content-Type", o.Format.ContentType())
	}
	head.Set("Content-Disposition", "inline")
	head.Set("Content-Security-Policy", sandbox)
	head.Set("Cache-Control", cachePublic)
	head.Set("ETag", tag)
	if unscaled {
		head.Set("Last-Modified", f.CreatedAt.UTC().Format(http.TimeFormat))
		head.Set("Accept-Ranges", "bytes")
		w.WriteHeader(http.StatusOK) // without the length, which only the scaling tells
		return nil
	}
	httpapi.ServeContent(w, r, f.CreatedAt, bytes.NewReader(picture.Data)) // 304 for the tag it has
	return nil
}

// avatarOptions reads w, q and fmt; 422 for what is out of bounds.
func avatarOptions(q url.Values) (o image.Options, err error) {
	if o.Width, err = numberParam(q, "w", minAvatarWidth, maxAvatarWidth); err != nil {
		return o, err
	}
	if o.Quality, err = numberParam(q, "q", 1, 100); err != nil {
		return o, err
	}
	if q.Has("fmt") {
		o.Format = image.Format(q.Get("fmt"))
		if o.Format != image.JPEG && o.Format != image.PNG && o.Format != image.WebP {
			return o, fault.InvalidAt("has to be jpeg, png or webp", "query", "fmt")
		}
	}
	return o, nil
}

func numberParam(q url.Values, name string, least, most int) (int, error) {
	if !q.Has(name) {
		return 0, nil
	}
	n, err := strconv.Atoi(q.Get(name))
	if err != nil || n < least || n > most {
		return 0, fault.InvalidAt(fmt.Sprintf("has to be a whole number from %d to %d", least, most), "query", name)
	}
	return n, nil
}

// avatarVariant makes a scaled avatar, or takes it from memory. Requests for the
// same one at the same time make it once.
func (s *Service) avatarVariant(ctx context.Context, f File, o image.Options) (image.Picture, error) {
	key := variant{id: f.ID, options: o}
	if p, ok := s.variants.get(key); ok {
		return p, nil
	}
	made, err, _ := s.making.Do(fmt.Sprint(key), func() (any, error) {
		// Others may wait for it, so it outlives the request that began it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), variantTime)
		defer cancel()
		data, err := io.ReadAll(s.Open(ctx, f))
		if err != nil {
			return image.Picture{}, err
		}
		p, err := s.images.Resize(ctx, data, o)
		if err == nil {
			s.variants.put(key, p)
		}
		return p, err
	})
	if err != nil {
		return image.Picture{}, fmt.Errorf("scale avatar: %w", err)
	}
	return made.(image.Picture), nil
}
