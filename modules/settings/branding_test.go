package settings_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	stdimage "image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
)

const brandingPath, putBrandingPath = "/config/branding", "/admin/config/branding"

func pictureOf(t *testing.T, w, h int) []byte {
	t.Helper()
	m := stdimage.NewNRGBA(stdimage.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{R: uint8(x), G: uint8(y), B: 40, A: 255})
		}
	}
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, m))
	return out.Bytes()
}

// noisy is a picture of few colours and much noise that takes less as it comes, with a palette, than once it is smaller.
func noisy(t *testing.T, side int) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	m := stdimage.NewPaletted(stdimage.Rect(0, 0, 2*side, 2*side), color.Palette{
		color.Black, color.White,
		color.NRGBA{R: 255, A: 255},
		color.NRGBA{B: 255, A: 255},
	})
	for i := range m.Pix {
		m.Pix[i] = uint8(random.UintN(4))
	}
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, m))
	require.Less(t, out.Len(), 512<<10)
	return out.Bytes()
}

func logoBody(t *testing.T, data []byte) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"logo": data})
	require.NoError(t, err)
	return string(body)
}

type brandingResponse struct {
	Name        string  `json:"name"`
	AccentLight string  `json:"accent_light"`
	AccentDark  string  `json:"accent_dark"`
	Logo        *string `json:"logo"`
	Changed     string  `json:"register_update_date"`
}

func (b *bundle) branding(t *testing.T) (a brandingResponse) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(b.get(t, brandingPath)), &a))
	return a
}

// fetch asks for a file as a browser does that may have it.
func (b *bundle) fetch(t *testing.T, path, tag string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, request)
	return w
}

func TestBrandingOfMarquee(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, brandingResponse{
		Name: "Marquee", AccentLight: "#2b59c3", AccentDark: "#8aaefc", Changed: "2000-01-01T00:00:00.000Z",
	}, b.branding(t))
	css := b.fetch(t, httpapi.Prefix+"/config/branding.css", "")
	require.Equal(t, 200, css.Code)
	require.Empty(t, css.Body.String(), "the front end's own colours")
	require.Equal(t, 404, b.fetch(t, httpapi.Prefix+"/config/branding/logo", "").Code)
	brand, err := b.svc.MailBrand(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Marquee", brand.Name)
	require.Equal(t, "#2b59c3", brand.Accent)
	require.Nil(t, brand.Logo)
}

func TestBrandingIsChangedAndShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	status, raw := b.call(t, http.MethodPut, putBrandingPath, "root",
		`{"name":" Cine Sol ","accent_light":"#0A6B3D","accent_dark":"#5ee2a0"}`)
	require.Equal(t, 200, status, raw)
	a := b.branding(t)
	require.Equal(t, brandingResponse{
		Name: "Cine Sol", AccentLight: "#0a6b3d", AccentDark: "#5ee2a0", Changed: "2026-11-20T17:03:12.000Z",
	}, a)
	css := b.fetch(t, httpapi.Prefix+"/config/branding.css", "")
	require.Equal(t, "text/css; charset=utf-8", css.Header().Get("Content-Type"))
	require.Equal(t, `:root:root {
  --accent: light-dark(#0a6b3d, #5ee2a0);
  --accent-over: light-dark(#095b34, #76e6ae);
  --on-accent: light-dark(#ffffff, #101113);
  --accent-soft: light-dark(#ebf3ef, #1b2e27);
}
`, css.Body.String())
	require.Equal(t, "public, no-cache", css.Header().Get("Cache-Control"))
	again := b.fetch(t, httpapi.Prefix+"/config/branding.css", css.Header().Get("ETag"))
	require.Equal(t, 304, again.Code)
	require.Empty(t, again.Body.String())
	tag := b.fetch(t, httpapi.Prefix+brandingPath, "").Header().Get("ETag")
	require.Equal(t, 304, b.fetch(t, httpapi.Prefix+brandingPath, tag).Code)

	var history int
	require.NoError(t, b.db.QueryRow(t.Context(),
		"SELECT count(*) FROM settings.changes WHERE setting LIKE 'brand_%'").Scan(&history))
	require.Equal(t, 3, history)
	status, _ = b.call(t, http.MethodPut, putBrandingPath, "root", `{"name":"Cine Sol"}`)
	require.Equal(t, 200, status)
	require.NoError(t, b.db.QueryRow(t.Context(),
		"SELECT count(*) FROM settings.changes WHERE setting LIKE 'brand_%'").Scan(&history))
	require.Equal(t, 3, history, "what is the same is no change")
}

func TestStaleBrandingIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	read := b.branding(t).Changed
	put := func(name string) (int, string) {
		return b.call(t, http.MethodPut, putBrandingPath, "root", `{"name":"`+name+`","register_update_date":"`+read+`"}`)
	}
	status, raw := put("first")
	require.Equal(t, 200, status, raw)
	status, raw = put("second")
	require.Equal(t, 409, status, raw)
	require.Contains(t, raw, `"field":"register_update_date"`)
	require.Equal(t, "first", b.branding(t).Name)
}

func TestLogoIsWrittenAnewAndKeptForAYear(t *testing.T) {
	t.Parallel()
	b := setup(t)
	status, raw := b.call(t, http.MethodPut, putBrandingPath, "root", logoBody(t, pictureOf(t, 1000, 500)))
	require.Equal(t, 200, status, raw)
	first := *b.branding(t).Logo
	require.Regexp(t, `^/api/v1/config/branding/logo\?v=[0-9a-f]{16}$`, first)
	shown := b.fetch(t, first, "")
	require.Equal(t, 200, shown.Code)
	require.Equal(t, "image/png", shown.Header().Get("Content-Type"))
	require.Equal(t, "public, max-age=31536000, immutable", shown.Header().Get("Cache-Control"))
	m, err := png.Decode(shown.Body)
	require.NoError(t, err)
	require.Equal(t, stdimage.Pt(512, 256), m.Bounds().Size())
	require.Equal(t, 304, b.fetch(t, first, shown.Header().Get("ETag")).Code)
	plain := b.fetch(t, httpapi.Prefix+"/config/branding/logo", "")
	require.Equal(t, "public, no-cache", plain.Header().Get("Cache-Control"))
	brand, err := b.svc.MailBrand(t.Context())
	require.NoError(t, err)
	small, err := png.Decode(bytes.NewReader(brand.Logo))
	require.NoError(t, err)
	require.Equal(t, stdimage.Pt(240, 120), small.Bounds().Size())

	status, raw = b.call(t, http.MethodPut, putBrandingPath, "root", logoBody(t, pictureOf(t, 20, 20)))
	require.Equal(t, 200, status, raw)
	require.NotEqual(t, first, *b.branding(t).Logo)
	require.Equal(t, "public, no-cache", b.fetch(t, first, "").Header().Get("Cache-Control"), "of another logo")
	status, raw = b.call(t, http.MethodPut, putBrandingPath, "root", `{"logo":null}`)
	require.Equal(t, 200, status, raw)
	require.Nil(t, b.branding(t).Logo)
	require.Equal(t, 404, b.fetch(t, first, "").Code)
}

// bomb says in its head that it has more pixels than its bytes could bear.
func bomb(w, h uint32) []byte {
	head := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)...)
	head = append(head, 8, 6, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	out = append(out, head...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(head))
}

func TestRefusedLogos(t *testing.T) {
	t.Parallel()
	b := setup(t)
	whole := pictureOf(t, 64, 64)
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"an SVG":               {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "an SVG is made into one first"},
		"an SVG after a BOM":   {[]byte("\ufeff\n<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY a \"b\">]><svg/>"), "an SVG is made into one first"},
		"too many bytes":       {append(bytes.Clone(whole), make([]byte, 512<<10)...), "larger than 512 kB"},
		"too many pixels":      {bomb(3000, 3000), "more than 4 megapixels"},
		"far too many pixels":  {bomb(1_000_000, 1_000_000), "more than 4 megapixels"},
		"torn":                 {whole[:len(whole)/2], "has to be a PNG"},
		"a JPEG":               {[]byte("\xff\xd8\xff\xe0 and so on"), "has to be a PNG"},
		"nothing":              {[]byte{}, "has a format that is not accepted"},
		"too large when anew":  {noisy(t, 512), "larger than 512 kB"},
		"a text of some bytes": {[]byte("hello"), "has to be a PNG"},
	} {
		status, raw := b.call(t, http.MethodPut, putBrandingPath, "root", logoBody(t, c.data))
		require.Equal(t, 422, status, "%s: %s", name, raw)
		require.Contains(t, raw, c.says, name)
		require.Contains(t, raw, `"field":"logo"`, name)
	}
	status, raw := b.call(t, http.MethodPut, putBrandingPath, "root", `{"logo":"***"}`)
	require.Equal(t, 422, status, raw)
	require.Nil(t, b.branding(t).Logo)
}

// TestMetadataOfALogoIsGone: what stands behind the picture or in its texts does not come out again.
func TestMetadataOfALogoIsGone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	data := append(pictureOf(t, 8, 8), "<script>secret</script>"...)
	status, raw := b.call(t, http.MethodPut, putBrandingPath, "root", logoBody(t, data))
	require.Equal(t, 200, status, raw)
	require.NotContains(t, b.fetch(t, *b.branding(t).Logo, "").Body.String(), "secret")
}

func TestRefusedBranding(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, want := range map[string]string{
		`{"name":""}`:         `"field":"name"`,
		`{"name":"  "}`:       "name has to be more than spaces",
		`{"name":"a\nb"}`:     `"field":"name"`,
		`{"name":"a\u202eb"}`: `"field":"name"`,
		`{"name":"` + strings.Repeat("é", 41) + `"}`: `"field":"name"`,
		`{"name":null}`:                              `"field":"name"`,
		`{"accent_light":"red"}`:                     "accent_light has to be a colour such as #2b59c3",
		`{"accent_light":"#12345g"}`:                 "has to be a colour",
		`{"accent_light":"#fff"}`:                    "has to be a colour",
		`{"accent_light":"#777777"}`:                 "accent_light has a contrast of 4.29:1 on the background of the light theme",
		`{"accent_dark":"#2b59c3"}`:                  "accent_dark has a contrast of 2.86:1 on the background of the dark theme",
		`{"accent_light":"#ffffff"}`:                 "1.00:1",
		`{"accent_dark":"#101113"}`:                  "1.00:1",
		`{"accent":"#2b59c3"}`:                       `"field":"accent"`,
		`{"name":"x","register_update_date":"soon"}`: `"field":"register_update_date"`,
	} {
		status, raw := b.call(t, http.MethodPut, putBrandingPath, "root", body)
		require.Equal(t, 422, status, "%s: %s", body, raw)
		require.Contains(t, raw, want, body)
	}
	for token, want := range map[string]int{"": 401, "customer": 403, "admin": 401} {
		status, raw := b.call(t, http.MethodPut, putBrandingPath, token, `{"name":"x"}`)
		require.Equal(t, want, status, "%s: %s", token, raw)
	}
	require.Equal(t, "Marquee", b.branding(t).Name)
	status, raw := b.call(t, http.MethodPut, putBrandingPath, "root", `{"name":"`+strings.Repeat("é", 40)+`"}`)
	require.Equal(t, 200, status, raw)
}

// TestGroundsAreThoseOfTheConsole: accents are compared with the colours on which the console shows them.
func TestGroundsAreThoseOfTheConsole(t *testing.T) {
	t.Parallel()
	tokens, err := os.ReadFile("../../web/app/src/ui/tokens.css")
	require.NoError(t, err)
	pair := func(name string) [2]string {
		found := regexp.MustCompile(`--` + name + `: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindSubmatch(tokens)
		require.NotNil(t, found, name)
		return [2]string{string(found[1]), string(found[2])}
	}
	b := setup(t)
	a := b.branding(t)
	require.Equal(t, [2]string{a.AccentLight, a.AccentDark}, pair("accent"))
	for _, ground := range []string{"n1", "n2"} {
		colours := pair(ground)
		for field, colour := range map[string]string{"accent_light": colours[0], "accent_dark": colours[1]} {
			status, raw := b.call(t, http.MethodPut, putBrandingPath, "root", `{"`+field+`":"`+colour+`"}`)
			require.Equal(t, 422, status)
			require.Contains(t, raw, "has a contrast of 1.00:1 on the background of the ", "%s is no ground", colour)
		}
	}
}

func TestLogoIsBase64(t *testing.T) {
	t.Parallel()
	b := setup(t)
	data := pictureOf(t, 4, 4)
	status, raw := b.call(t, http.MethodPut, putBrandingPath, "root",
		`{"logo":"`+base64.StdEncoding.EncodeToString(data)+`"}`)
	require.Equal(t, 200, status, raw)
	require.NotNil(t, b.branding(t).Logo)
}
