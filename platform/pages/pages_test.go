package pages_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"marquee/platform/httpapi"
	"marquee/platform/pages"
	"marquee/testutil/secrettest"
	"marquee/web"
)

// dist is what a build might leave.
var dist = fstest.MapFS{
	"index.html":                {Data: []byte("<p>site")},
	"console/index.html":        {Data: []byte("<p>console")},
	"door/index.html":           {Data: []byte("<p>door")},
	"door/worker.js":            {Data: []byte("work()")},
	"assets/app-Ab3_x-9Q.js":    {Data: []byte(strings.Repeat("run();", 100))},
	"assets/app-Ab3_x-9Q.js.br": {Data: []byte("brotli")},
	"assets/logo-12345678.png":  {Data: []byte("png")},
	".gitkeep":                  {},
	"assets/style-12345678.css": {Data: []byte("p{}")},
}

func serve(t *testing.T, cfg pages.Config) func(target string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	cfg.Plain = web.Plain()
	shown, err := pages.New(cfg)
	require.NoError(t, err)
	api := httpapi.New(httpapi.Config{Log: secrettest.Logger(t), Pages: shown, DocsPage: []byte("<p>docs")})
	return func(target string, header ...string) *httptest.ResponseRecorder {
		method := http.MethodGet
		if name, rest, ok := strings.Cut(target, " "); ok {
			method, target = name, rest
		}
		r := httptest.NewRequest(method, target, http.NoBody)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		api.Handler().ServeHTTP(w, r)
		return w
	}
}

func TestAddressesGiveTheirPage(t *testing.T) {
	t.Parallel()
	get := serve(t, pages.Config{Dist: dist})
	for target, want := range map[string]string{
		"/": "<p>site", "/films/42": "<p>site", "/console/": "<p>console", "/console/customers/42": "<p>console",
		"/door/": "<p>door", "/door/events/7": "<p>door", "/door/worker.js": "work()", "/assets/style-12345678.css": "p{}",
	} {
		w := get(target)
		require.Equal(t, http.StatusOK, w.Code, target)
		require.Equal(t, want, w.Body.String(), target)
	}
	for _, target := range []string{"/console", "/door"} {
		w := get(target)
		require.Equal(t, http.StatusPermanentRedirect, w.Code, target)
		require.Equal(t, target+"/", w.Header().Get("Location"))
	}
	for _, target := range []string{
		"/assets/app-gone.js", "/assets/", "/console/old.js", "/.gitkeep", "/assets/app-Ab3_x-9Q.js.br", "/robots.txt",
		"/../web/embed.go",
	} {
		w := get(target)
		require.Equal(t, http.StatusNotFound, w.Code, target)
		require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"), target)
	}
}

// TestAddressesThatCannotBeGiveAPage: what no address of the API may hold is 404 in the words of the front end.
func TestAddressesThatCannotBeGiveAPage(t *testing.T) {
	t.Parallel()
	get := serve(t, pages.Config{Dist: dist})
	for target, want := range map[string]string{
		"/console/%00": "<p>console", "/console/customers/a%00b": "<p>console", "/console/%ff": "<p>console",
		"/console/customers?q=%00": "<p>console", "/films/%00": "<p>site",
	} {
		w := get(target, "Accept", "text/html")
		require.Equal(t, http.StatusNotFound, w.Code, target)
		require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"), target)
		require.Contains(t, w.Body.String(), want, target)
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'self'", target)
	}
	require.Equal(t, http.StatusNotFound, get("/assets/%00.js", "Accept", "text/html").Code)
	for target, accept := range map[string]string{
		"/api/v1/videos/%00": "text/html", "/api/v1/videos?q=%00": "text/html", "/webhooks/%00": "text/html",
		"POST /console/%00": "text/html", "/console/%00": "application/json",
	} {
		w := get(target, "Accept", accept)
		require.Equal(t, http.StatusUnprocessableEntity, w.Code, target)
		require.Equal(t, "application/json", w.Header().Get("Content-Type"), target)
	}
}

// TestTheAPIStaysJSON: below its prefix and the gateways' no page stands, also where nothing does.
func TestTheAPIStaysJSON(t *testing.T) {
	t.Parallel()
	get := serve(t, pages.Config{Dist: dist})
	for target, status := range map[string]int{
		"/api/v1/nowhere": http.StatusNotFound, "/api/v1/console/": http.StatusNotFound, "/api/v2": http.StatusNotFound,
		"/webhooks/nobody": http.StatusNotFound, "/webhooks": http.StatusNotFound, "/api/v1/": http.StatusTemporaryRedirect,
		"/api/v1/health": http.StatusOK, "POST /console/": http.StatusNotFound, "DELETE /": http.StatusNotFound,
	} {
		w := get(target, "Accept", "text/html")
		require.Equal(t, status, w.Code, target)
		require.Equal(t, "application/json", w.Header().Get("Content-Type"), target)
	}
}

func TestOneFrontEndAtATime(t *testing.T) {
	t.Parallel()
	get := serve(t, pages.Config{Dist: dist, NoSite: true})
	require.Contains(t, get("/").Body.String(), `href="/console/"`, "the page about the platform leads to the console")
	require.Equal(t, http.StatusNotFound, get("/door/").Code)
	require.Equal(t, http.StatusNotFound, get("/films/42").Code)
	require.Equal(t, http.StatusOK, get("/console/").Code)
	require.Equal(t, http.StatusOK, get("/assets/style-12345678.css").Code)

	get = serve(t, pages.Config{Dist: fstest.MapFS{}})
	w := get("/")
	require.Equal(t, http.StatusOK, w.Code)
	require.NotContains(t, w.Body.String(), "console", "there is none")
	require.Equal(t, http.StatusNotFound, get("/console/").Code)
	w = get("/docs")
	require.Equal(t, http.StatusTemporaryRedirect, w.Code)
	require.Equal(t, "/api/v1/docs", w.Header().Get("Location"))
}

func TestPlainPagesSpeakTheReadersLanguage(t *testing.T) {
	t.Parallel()
	get := serve(t, pages.Config{Dist: fstest.MapFS{}})
	for accept, lang := range map[string]string{
		"pt-BR,pt;q=0.9,en;q=0.8": "pt", "pt-PT": "pt", "en-GB": "en", "": "en", "ja": "en", "de, pt;q=0.1": "pt",
	} {
		for _, target := range []string{"/", "/nowhere"} {
			w := get(target, "Accept-Language", accept)
			require.Equal(t, lang, w.Header().Get("Content-Language"), accept)
			require.Contains(t, w.Body.String(), `<html lang="`+lang, accept)
			require.Contains(t, w.Header().Values("Vary"), "Accept-Language")
		}
	}
	w := get("/nowhere", "Accept", "application/json")
	require.JSONEq(t, `{"detail":"Not Found"}`, w.Body.String(), "who asks for JSON alone gets it")
}

func TestFilesAreCachedAndCompressed(t *testing.T) {
	t.Parallel()
	get := serve(t, pages.Config{Dist: dist})
	const script = "/assets/app-Ab3_x-9Q.js"
	for target, want := range map[string]string{
		script: "public, max-age=31536000, immutable", "/console/": "no-cache", "/door/worker.js": "no-cache",
	} {
		w := get(target)
		require.Equal(t, want, w.Header().Get("Cache-Control"), target)
		w = get(target, "If-None-Match", w.Header().Get("Etag"))
		require.Equal(t, http.StatusNotModified, w.Code, target)
		require.Empty(t, w.Body.String())
	}
	w := get(script, "Accept-Encoding", "gzip, br")
	require.Equal(t, "br", w.Header().Get("Content-Encoding"))
	require.Equal(t, "brotli", w.Body.String())
	require.Equal(t, "text/javascript; charset=utf-8", w.Header().Get("Content-Type"))
	require.Equal(t, http.StatusOK, get(script, "If-None-Match", w.Header().Get("Etag")).Code, "of another coding")
	w = get(script, "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", w.Header().Get("Content-Encoding"))
	zipped, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
	require.NoError(t, err)
	plain, err := io.ReadAll(zipped)
	require.NoError(t, err)
	require.Equal(t, get(script).Body.String(), string(plain))
	w = get("/assets/logo-12345678.png", "Accept-Encoding", "gzip, br")
	require.Empty(t, w.Header().Get("Content-Encoding"), "a picture is compressed already")
}

func TestEachAreaHasItsPolicy(t *testing.T) {
	t.Parallel()
	get := serve(t, pages.Config{Dist: dist})
	policy := func(target string) string { return get(target).Header().Get("Content-Security-Policy") }
	const strict = "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; " +
		"frame-ancestors 'none'; form-action 'none'"
	require.Equal(t, strict, policy("/console/payments"))
	require.Contains(t, policy("/door/"), "script-src 'self' 'wasm-unsafe-eval'")
	require.Contains(t, policy("/films/42"), "media-src 'self' blob:")
	for _, target := range []string{"/", "/console/", "/door/", "/nowhere.txt", "/assets/style-12345678.css"} {
		require.NotContains(t, policy(target), "unsafe-inline", target)
		require.NotContains(t, policy(target), "https:", target)
	}
	get = serve(t, pages.Config{Dist: dist, GatewayB: true})
	require.Contains(t, policy("/"), "https://js.stripe.com")
	require.NotContains(t, policy("/console/"), "stripe")
}
