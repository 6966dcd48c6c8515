package film_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/film"
)

var (
	key = []byte("a key that only tests know about")
	now = time.Unix(1_800_000_000, 0)
)

// signed is the signature of a text.
func signed(text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// inside is the path of a file below a signed directory.
func inside(directory, file string, ends time.Time) string {
	prefix := fmt.Sprintf("/_s/%d", ends.Unix())
	return prefix + "/" + signed("cdn.example"+prefix+directory) + directory + file
}

func send(method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://cdn.example"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	film.Server{Key: key, Now: func() time.Time { return now }}.ServeHTTP(w, r)
	return w
}

func TestEveryFileIsServedAsWhatItIs(t *testing.T) {
	t.Parallel()
	served, size := 0, 0
	require.NoError(t, filepath.WalkDir("files", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		name, err := filepath.Rel("files", path)
		require.NoError(t, err)
		a := send(http.MethodGet, inside("/films/a/", name, now.Add(time.Second)))
		require.Equal(t, http.StatusOK, a.Code, name)
		require.True(t, bytes.Equal(content, a.Body.Bytes()), name)
		require.Equal(t, map[string]string{
			".m3u8": "application/vnd.apple.mpegurl", ".m4s": "video/iso.segment", ".mp4": "video/mp4",
			".vtt": "text/vtt; charset=utf-8",
		}[filepath.Ext(name)], a.Header().Get("Content-Type"), name)
		require.Equal(t, "*", a.Header().Get("Access-Control-Allow-Origin"))
		served++
		size += len(content)
		return nil
	}))
	require.Equal(t, 34, served)
	require.Less(t, size, 4_000_000)
}

func TestWhoIsNotAdmittedIsRefused(t *testing.T) {
	t.Parallel()
	soon := now.Add(time.Second)
	file := fmt.Sprintf("/films/a/film.mp4?expires=%d", soon.Unix())
	file += "&signature=" + signed("cdn.example"+file)
	for what, path := range map[string]string{
		"unsigned":              "/films/a/index.m3u8",
		"over":                  inside("/films/a/", "index.m3u8", now),
		"another directory":     inside("/films/b/", "../a/index.m3u8", soon),
		"the whole host":        inside("/", "films/a/index.m3u8", soon),
		"another file":          "/films/a/index.m3u8" + file[len("/films/a/film.mp4"):],
		"the signature missing": file[:len(file)-64],
	} {
		a := send(http.MethodGet, path)
		require.Equal(t, http.StatusForbidden, a.Code, what)
		require.Equal(t, "*", a.Header().Get("Access-Control-Allow-Origin"), what)
	}
	require.Equal(t, http.StatusOK, send(http.MethodGet, file).Code)
	for _, path := range []string{
		inside("/films/a/", "none.m4s", soon), inside("/films/a/", "720p", soon), inside("/other/a/", "index.m3u8", soon),
	} {
		require.Equal(t, http.StatusNotFound, send(http.MethodGet, path).Code, path)
	}
}

// TestFurtherFilmsHaveNamesOfTheirOwn: a directory holds them, and no address leads out of it.
func TestFurtherFilmsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	dir := filepath.Join(above, "films")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "long", "720p.mp4"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "long", "index.m3u8"), []byte("longer"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "long", "notes.txt"), []byte("no film"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(above, "film.mp4"), []byte("outside"), 0o600))
	get := func(directory, file string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		film.Server{Key: key, Now: func() time.Time { return now }, Dir: dir}.ServeHTTP(w,
			httptest.NewRequest(http.MethodGet, "http://cdn.example"+inside(directory, file, now.Add(time.Second)), nil))
		return w
	}
	require.Equal(t, "longer", get("/films/long/", "index.m3u8").Body.String())
	require.Contains(t, get("/films/a/", "index.m3u8").Body.String(), "#EXTM3U")
	for _, file := range []string{"film.mp4", "notes.txt", "720p.mp4", "none.m4s"} {
		require.Equal(t, http.StatusNotFound, get("/films/long/", file).Code, file)
	}
	for _, file := range []string{"../film.mp4", "%2e%2e/film.mp4", "..%2ffilm.mp4"} {
		require.Equal(t, http.StatusForbidden, get("/films/long/", file).Code, file)
	}
}

func TestRangesHeadAndOtherMethods(t *testing.T) {
	t.Parallel()
	path := inside("/films/a/", "film.mp4", now.Add(time.Second))
	whole := send(http.MethodGet, path)
	part := send(http.MethodGet, path, "Range", "bytes=4-7")
	require.Equal(t, http.StatusPartialContent, part.Code)
	require.Equal(t, "ftyp", part.Body.String())
	require.Equal(t, fmt.Sprintf("bytes 4-7/%d", whole.Body.Len()), part.Header().Get("Content-Range"))
	require.Equal(t, http.StatusRequestedRangeNotSatisfiable,
		send(http.MethodGet, path, "Range", "bytes=99999999-").Code)
	head := send(http.MethodHead, path)
	require.Equal(t, http.StatusOK, head.Code)
	require.Equal(t, strconv.Itoa(whole.Body.Len()), head.Header().Get("Content-Length"))
	require.Empty(t, head.Body.Bytes())
	preflight := send(http.MethodOptions, path, "Origin", "http://site.example", "Access-Control-Request-Headers", "range")
	require.Equal(t, http.StatusNoContent, preflight.Code)
	require.Equal(t, "Range", preflight.Header().Get("Access-Control-Allow-Headers"))
	require.Equal(t, http.StatusMethodNotAllowed, send(http.MethodPost, path).Code)
}
