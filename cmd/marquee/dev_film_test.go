package main_test

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/pgtest"
)

// filmPlayer is a player that knows the stream URL alone.
type filmPlayer struct {
	t    *testing.T
	seen map[string]string // types by the end of the name, of what was asked for
}

// get asks for a file, and returns its status and content.
func (p filmPlayer) get(address string) (status int, content string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, address, nil)
	require.NoError(p.t, err)
	r.Header.Set("Origin", "http://site.example")
	res, err := http.DefaultClient.Do(r)
	require.NoError(p.t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	require.Equal(p.t, "*", res.Header.Get("Access-Control-Allow-Origin"))
	if res.StatusCode == http.StatusOK {
		kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
		require.NoError(p.t, err)
		p.seen[path.Ext(res.Request.URL.Path)] = kind
	}
	return res.StatusCode, string(raw)
}

var playlistNames = regexp.MustCompile(`(?m)^([^#\n].*)$|URI="([^"]*)"`)

// play asks for all that a playlist names, and all that those name, each relative to who names it.
func (p filmPlayer) play(playlist string) (files int) {
	p.t.Helper()
	status, content := p.get(playlist)
	require.Equal(p.t, http.StatusOK, status, playlist)
	base, err := url.Parse(playlist)
	require.NoError(p.t, err)
	for _, m := range playlistNames.FindAllStringSubmatch(content, -1) {
		at, err := base.Parse(m[1] + m[2])
		require.NoError(p.t, err)
		if path.Ext(at.Path) == ".m3u8" {
			files += p.play(at.String())
			continue
		}
		status, content := p.get(at.String())
		require.Equal(p.t, http.StatusOK, status, at)
		require.NotEmpty(p.t, content)
		files++
	}
	return files
}

// TestDevPlaysItsFilms: the stream URLs of the seeded films play, of a subscriber, and for as long as they say.
func TestDevPlaysItsFilms(t *testing.T) {
	t.Parallel()
	m := startDev(t, pgtest.DataDir(t))
	token := login(t, m, "customer")
	stream := func(slug string) string {
		t.Helper()
		videos := expect(t, 200, http.MethodGet, m.URL+"/api/v1/videos?query="+url.QueryEscape(`{"slug":"`+slug+`"}`), token, nil)
		id := videos["docs"].([]any)[0].(map[string]any)["_id"].(string)
		return expect(t, 200, http.MethodGet, m.URL+"/api/v1/videos/"+id+"/stream-url", token, nil)["url"].(string)
	}
	hls, p := stream("sintel"), filmPlayer{t, map[string]string{}}
	require.Regexp(t, `^`+m.FilmsURL+`/_s/[0-9]+/[0-9a-f]{64}/films/sintel/index\.m3u8$`, hls)
	require.Equal(t, 26, p.play(hls), "a beginning and five segments of two pictures and two sounds, captions in two languages")
	direct := stream("a-trip-to-the-moon")
	require.Regexp(t, `^`+m.FilmsURL+`/films/a-trip-to-the-moon/film\.mp4\?expires=[0-9]+&signature=[0-9a-f]{64}$`, direct)
	status, content := p.get(direct)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "ftyp", content[4:8])
	require.Equal(t, map[string]string{
		".m3u8": "application/vnd.apple.mpegurl", ".m4s": "video/iso.segment", ".mp4": "video/mp4", ".vtt": "text/vtt",
	}, p.seen)
	for _, address := range []string{
		strings.Replace(hls, "/films/sintel/", "/films/big-buck-bunny/", 1), m.FilmsURL + "/films/sintel/index.m3u8",
		strings.Replace(direct, "a-trip", "the-trip", 1),
	} {
		status, _ := p.get(address)
		require.Equal(t, http.StatusForbidden, status, address)
	}
	t.Run("ffprobe", func(t *testing.T) { probeFilm(t, hls, direct) })
	expect(t, 200, http.MethodPost, m.ClockURL+"/advance", "", map[string]any{"by": "4h"})
	for _, address := range []string{hls, strings.Replace(hls, "index.m3u8", "720p/1.m4s", 1), direct} {
		status, _ := p.get(address)
		require.Equal(t, http.StatusForbidden, status, address)
	}
}

// probeFilm asks ffprobe what is in both forms of the film, and has it count the pictures.
func probeFilm(t *testing.T, hls, direct string) {
	if _, err := exec.LookPath("ffprobe"); err != nil {
		t.Skip("no ffprobe is installed (Debian: apt-get install ffmpeg): what is in the film was not looked at")
	}
	probe := func(address, streams string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-count_frames", "-select_streams", streams,
			"-show_entries", "stream=codec_name,width,height,nb_read_frames:stream_tags=language", "-of", "csv=p=0", address).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	require.Contains(t, probe(hls, "v"), "h264,640,360,500")
	require.Contains(t, probe(hls, "v"), "h264,1280,720,500")
	require.Contains(t, probe(hls, "a"), "aac")
	require.Contains(t, probe(direct, "v"), "h264,1280,720,500")
}
