package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"marquee/modules/settings/internal/settingsdb"
	"marquee/platform/httpapi"
)

type brandingBody struct {
	Name               string       `json:"name" doc:"1 to 40 characters"`
	AccentLight        string       `json:"accent_light" doc:"Colour of links and buttons in the light theme"`
	AccentDark         string       `json:"accent_dark" doc:"Colour of links and buttons in the dark theme"`
	Logo               *string      `json:"logo" nullable:"true" doc:"Address of a PNG below that of the API; null: the mark of the front end"`
	RegisterUpdateDate httpapi.Time `json:"register_update_date"`
}

const logoPath = "/config/branding/logo"

func brandingOf(b settingsdb.SettingsBranding) brandingBody {
	body := brandingBody{
		Name: b.Name, AccentLight: b.AccentLight, AccentDark: b.AccentDark,
		RegisterUpdateDate: httpapi.Time(b.UpdatedAt),
	}
	if b.LogoSum != nil {
		body.Logo = new(httpapi.Prefix + logoPath + "?v=" + (*b.LogoSum)[:16])
	}
	return body
}

// cachedInput is a request of somebody who may have the answer.
type cachedInput struct {
	IfNoneMatch string `header:"If-None-Match"`
}

func (in cachedInput) has(tag string) bool {
	return httpapi.IfNoneMatch(http.Header{"If-None-Match": {in.IfNoneMatch}}, tag)
}

// revalidated has whoever keeps an answer ask whether it still counts.
const revalidated = "public, no-cache"

func tagOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

type brandingOutput struct {
	Status       int
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Body         brandingBody
}

// getBranding answers GET /config/branding.
func (h handlers) getBranding(ctx context.Context, in *cachedInput) (*brandingOutput, error) {
	b, err := h.s.branding(ctx)
	if err != nil {
		return nil, err
	}
	out := &brandingOutput{
		Status: http.StatusOK, CacheControl: revalidated, Body: brandingOf(b),
		ETag: tagOf(b.UpdatedAt.Format(time.RFC3339Nano)),
	}
	if in.has(out.ETag) {
		out.Status = http.StatusNotModified
	}
	return out, nil
}

// file is what a browser shows of the branding.
type file struct {
	Status       int
	ContentType  string `header:"Content-Type"`
	ETag         string `header:"ETag"`
	CacheControl string `header:"Cache-Control"`
	Body         []byte
}

func (f *file) unless(in cachedInput) *file {
	f.Status = http.StatusOK
	if in.has(f.ETag) {
		f.Status, f.Body = http.StatusNotModified, nil
	}
	return f
}

func fileResponse(contentType string) httpapi.Option {
	return httpapi.Response("200", &huma.Response{Description: "The file", Content: map[string]*huma.MediaType{
		contentType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
	}})
}

// getStyle answers GET /config/branding.css: what a page links before its own styles are shown, so that it never has
// another accent. It holds nothing while the accents are Marquee's.
func (h handlers) getStyle(ctx context.Context, in *cachedInput) (*file, error) {
	b, err := h.s.branding(ctx)
	if err != nil {
		return nil, err
	}
	text := style(b.AccentLight, b.AccentDark)
	out := &file{
		ContentType: "text/css; charset=utf-8", CacheControl: revalidated, ETag: tagOf(text), Body: []byte(text),
	}
	return out.unless(*in), nil
}

type logoInput struct {
	IfNoneMatch string `header:"If-None-Match"`
	Version     string `query:"v" maxLength:"64" doc:"Of the address in GET /config/branding: that one is kept for a year"`
}

// getLogo answers GET /config/branding/logo; 404 without one.
func (h handlers) getLogo(ctx context.Context, in *logoInput) (*file, error) {
	png, sum, err := h.s.logo(ctx)
	if err != nil {
		return nil, err
	}
	out := &file{ContentType: "image/png", CacheControl: revalidated, ETag: `"` + sum[:24] + `"`, Body: png}
	if in.Version == sum[:16] {
		out.CacheControl = "public, max-age=31536000, immutable"
	}
	return out.unless(cachedInput{in.IfNoneMatch}), nil
}

type putBrandingInput struct {
	Body struct {
		Name               *string             `json:"name,omitempty" minLength:"1" maxLength:"40"`
		AccentLight        *string             `json:"accent_light,omitempty" maxLength:"7" doc:"#rrggbb, at least 4.5:1 on the background of the light theme"`
		AccentDark         *string             `json:"accent_dark,omitempty" maxLength:"7" doc:"#rrggbb, at least 4.5:1 on the background of the dark theme"`
		Logo               httpapi.Opt[[]byte] `json:"logo,omitempty" required:"false" doc:"A PNG of at most 512 kB in base64; null: none"`
		RegisterUpdateDate *time.Time          `json:"register_update_date,omitempty" doc:"As it was read: 409 where it is another now"`
	}
}

// putBranding answers PUT /admin/config/branding: what is not sent stays. 422 for an accent names its contrast and the
// theme, 409 where somebody changed the branding since it was read.
func (h handlers) putBranding(ctx context.Context, in *putBrandingInput) (*httpapi.Output[brandingBody], error) {
	c := brandingChange{
		name: in.Body.Name, accentLight: in.Body.AccentLight, accentDark: in.Body.AccentDark,
		readAt: in.Body.RegisterUpdateDate,
	}
	if err := checkBranding(c); err != nil {
		return nil, err
	}
	if sent := in.Body.Logo; sent.Set {
		c.logo = &logoChange{}
		if !sent.Null {
			var err error
			if c.logo, err = h.s.readLogo(ctx, sent.Value); err != nil {
				return nil, err
			}
		}
	}
	b, err := h.s.changeBranding(ctx, c)
	if err != nil {
		return nil, err
	}
	return httpapi.OK(brandingOf(b))
}
