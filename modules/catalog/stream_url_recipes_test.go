package catalog_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/catalog/catalogtest"
)

// The recipes of docs/streaming.md run in Debian's nginx, as they stand there: that of CloudFront behind a few lines
// that make of a request what CloudFront makes of it.
const (
	njs = "/usr/lib/nginx/modules/ngx_http_js_module.so"

	asCloudFront = `
import cloudFront from 'cloudfront-function.js';

async function serve(r) {
	const parts = r.variables.request_uri.split('?'), query = {};
	(parts[1] || '').split('&').forEach((pair) => {
		const at = pair.indexOf('=');
		query[pair.slice(0, at)] = { value: pair.slice(at + 1) };
	});
	const out = await cloudFront.handler({
		request: { uri: parts[0], querystring: query, headers: { host: { value: r.headersIn.Host } } },
	});
	if (out.statusCode) {
		r.return(out.statusCode);
		return;
	}
	r.return(200, out.uri + Object.keys(out.querystring).join());
}

export default { serve };
`
)

// recipes are the blocks of docs/streaming.md in a language.
func recipes(t *testing.T, language string) (all []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/streaming.md")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```\n").FindAllStringSubmatch(string(page), -1) {
		all = append(all, m[1])
	}
	return all
}

// door is an nginx that serves by the recipes: each has a socket.
type door struct {
	t   *testing.T
	dir string
}

func openDoor(t *testing.T) door {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx" // which need not be in PATH
	}
	for _, file := range []string{nginx, njs} {
		if _, err := os.Stat(file); err != nil {
			t.Skip("no nginx with njs is installed (Debian: apt-get install nginx libnginx-mod-http-js): the recipes were not tried")
		}
	}
	dir, err := os.MkdirTemp("", "door") // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := door{t, dir}
	blocks, server := recipes(t, "js"), recipes(t, "nginx")
	require.Len(t, blocks, 4)
	require.Len(t, server, 1)
	check, serve, cloudFront, send := blocks[0], blocks[1], blocks[2], blocks[3]
	d.write("films.js", check+serve)
	ask, _, _ := strings.Cut(serve, "function serve")
	d.write("bunny.js", check+ask+send)
	d.write("cloudfront-function.js", check+cloudFront+"export default { handler };\n")
	d.write("cloudfront", "export default { kvs: () => ({ get: (name) => Promise.resolve(name === 'stream-url-key' ? '"+
		string(streamKey)+"' : '') }) };\n")
	d.write("as-cloudfront.js", asCloudFront)
	d.write("stream-url-key.conf", `set $stream_url_key "`+string(streamKey)+`";`)
	for name, content := range map[string]string{
		"a/index.m3u8": "#EXTM3U", "a/720p/1.m4s": "a segment", "a/c d.vtt": "WEBVTT", "b/index.m3u8": "#EXTM3U of another",
		"a.mp4": "a film", "b.mp4": "another film",
	} {
		d.write("srv/films/"+name, content)
	}
	films := regexp.MustCompile(`(?m)^\s*ssl_.*\n`).ReplaceAllString(server[0], "")
	films = strings.NewReplacer("listen 443 ssl", "listen unix:"+dir+"/films", "/etc/nginx/", dir+"/", "/srv/", dir+"/srv/").
		Replace(films)
	var further strings.Builder
	for name, script := range map[string]string{"bunny": "bunny.send", "cloudfront": "front.serve"} {
		_, _ = fmt.Fprintf(&further, `
server {
	listen unix:%[1]s/%[2]s;
	set $stream_url_key %[4]q;
	set $bunny_key SecurityKey;
	location / { js_content %[3]s; }
}
`, dir, name+".socket", script, streamKey)
	}
	d.write("nginx.conf", fmt.Sprintf(`
load_module %[1]s;
daemon off;
master_process off;
pid %[2]s/pid;
error_log stderr warn;
events {}
http {
	access_log off;
	js_path %[2]s;
	js_import front from as-cloudfront.js;
	js_import bunny from bunny.js;
	client_body_temp_path %[2]s/1; proxy_temp_path %[2]s/2; fastcgi_temp_path %[2]s/3;
	uwsgi_temp_path %[2]s/4; scgi_temp_path %[2]s/5;
	%[3]s
	%[4]s
}
`, njs, dir, films, further.String()))
	d.start(nginx)
	return d
}

func (d door) write(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	require.NoError(d.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(d.t, os.WriteFile(path, []byte(content), 0o644))
}

func (d door) start(nginx string) {
	d.t.Helper()
	command := exec.Command(nginx, "-p", d.dir, "-c", d.dir+"/nginx.conf")
	log, err := os.Create(filepath.Join(d.dir, "log"))
	require.NoError(d.t, err)
	command.Stderr = log
	require.NoError(d.t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	d.t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
		_ = log.Close()
	})
	require.Eventually(d.t, func() bool {
		select {
		case err := <-ended:
			ended <- err
			said, _ := os.ReadFile(log.Name())
			d.t.Errorf("nginx ended: %v\n%s", err, said)
			return true
		default:
		}
		c, err := net.Dial("unix", filepath.Join(d.dir, "films"))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond)
}

// get asks at a socket for what an address names, as it stands there.
func (d door) get(socket, address string) (*http.Response, string) {
	d.t.Helper()
	_, rest, found := strings.Cut(address, "://")
	require.True(d.t, found)
	host, path, _ := strings.Cut(rest, "/")
	client := http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(d.dir, socket))
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://"+host, nil)
	require.NoError(d.t, err)
	r.URL.Opaque = "/" + path
	res, err := client.Do(r)
	require.NoError(d.t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(d.t, err)
	return res, string(body)
}

// streamsOf are the addresses of a playlist and of a file that live by the machine's clock, and such that are over.
func streamsOf(t *testing.T) (directory, file string, over []string) {
	t.Helper()
	b := setup(t)
	playlist := catalogtest.Video(t, b.db, catalogtest.Fields{"video_id": "https://films.example.com/films/a/index.m3u8"})
	direct := catalogtest.Video(t, b.db, catalogtest.Fields{"video_id": "https://films.example.com/films/a.mp4"})
	now := time.Now()
	b.clock.Advance(now.Add(-4 * time.Hour).Sub(b.clock.Now()))
	over = []string{b.stream(t, "admin", playlist).URL, b.stream(t, "admin", direct).URL}
	b.clock.Advance(now.Sub(b.clock.Now()))
	return b.stream(t, "admin", playlist).URL, b.stream(t, "admin", direct).URL, over
}

func TestRecipeOfNginx(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	directory, file, over := streamsOf(t)
	for name, want := range map[string][2]string{
		"index.m3u8": {"#EXTM3U", "application/vnd.apple.mpegurl"},
		"720p/1.m4s": {"a segment", "video/iso.segment"},
		"c%20d.vtt":  {"WEBVTT", "text/vtt"},
	} {
		res, body := d.get("films", strings.Replace(directory, "index.m3u8", name, 1))
		require.Equal(t, http.StatusOK, res.StatusCode, name)
		require.Equal(t, want[0], body)
		require.Equal(t, want[1], res.Header.Get("Content-Type"))
		require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
	}
	res, body := d.get("films", file)
	require.Equal(t, "a film", body, res.Status)
	res, _ = d.get("films", strings.Replace(directory, "index.m3u8", "none.m4s", 1))
	require.Equal(t, http.StatusNotFound, res.StatusCode)
	res, _ = d.get("films", "https://films.example.com/inside/films/a/index.m3u8")
	require.Equal(t, http.StatusNotFound, res.StatusCode, "nobody is let in but by the check")
	for what, address := range refusedOf(directory, file, over) {
		res, body := d.get("films", address)
		require.Contains(t, []int{http.StatusForbidden, http.StatusBadRequest}, res.StatusCode, what)
		if res.StatusCode == http.StatusForbidden {
			require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"), what)
		}
		require.NotContains(t, body, "another", what)
	}
}

// refusedOf are addresses that no recipe admits.
func refusedOf(directory, file string, over []string) map[string]string {
	prefix := strings.TrimSuffix(directory, "a/index.m3u8")
	return map[string]string{
		"after expiry":              over[0],
		"a file after expiry":       over[1],
		"another directory":         prefix + "b/index.m3u8",
		"climbs":                    prefix + "a/../b/index.m3u8",
		"climbs, encoded":           prefix + "a/%2e%2e/b/index.m3u8",
		"climbs, separator encoded": prefix + "a/..%2Fb%2Findex.m3u8",
		"climbs, encoded twice":     prefix + "a/%252e%252e/b/index.m3u8",
		"climbs out of the prefix":  prefix + "a/../../../../../films/b/index.m3u8",
		"double slash":              prefix + "a//index.m3u8",
		"ends its text":             prefix + "a/index.m3u8%00",
		"another host":              strings.Replace(directory, "films.example", "other.example", 1),
		"another file":              strings.Replace(file, "a.mp4", "b.mp4", 1),
		"of a file":                 "https://films.example.com/films/a/index.m3u8?" + file[strings.Index(file, "?")+1:],
		"unsigned":                  "https://films.example.com/films/a/index.m3u8",
		"the root":                  "https://films.example.com/",
	}
}

func TestRecipeOfCloudFront(t *testing.T) {
	t.Parallel()
	d := openDoor(t)
	directory, file, over := streamsOf(t)
	for address, origin := range map[string]string{
		directory: "/films/a/index.m3u8", file: "/films/a.mp4",
		strings.Replace(directory, "index.m3u8", "720p/c%20d.m4s?x=1", 1): "/films/a/720p/c%20d.m4s",
	} {
		res, body := d.get("cloudfront.socket", address)
		require.Equal(t, http.StatusOK, res.StatusCode, address)
		require.Equal(t, origin, body)
	}
	for what, address := range refusedOf(directory, file, over) {
		res, _ := d.get("cloudfront.socket", address)
		require.Contains(t, []int{http.StatusForbidden, http.StatusBadRequest}, res.StatusCode, what)
	}
}

// bunnyToken is what Bunny says of its tokens: of this key, path and end it publishes the token.
func bunnyToken(path, expires, parameters string) string {
	mac := hmac.New(sha256.New, []byte("SecurityKey"))
	mac.Write([]byte(path + expires + parameters))
	return "HS256-" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestRecipeOfBunny(t *testing.T) {
	t.Parallel()
	require.Equal(t, "HS256-uVZvT3SbEoVKYJyDJgbcsDmSFf73cv-uNUVaJiKWpbQ",
		bunnyToken("/abc", "1598024587", "token_path=/abc"))
	require.Equal(t, "HS256-o10JRWlsAItyAsdKS6jJKjabHN4FrFsplDHPV1idcX4", bunnyToken("/300kb.jpg", "1598024587", ""))
	d := openDoor(t)
	directory, file, over := streamsOf(t)
	u, err := url.Parse(file)
	require.NoError(t, err)
	expires := u.Query().Get("expires")
	for address, to := range map[string]string{
		directory: "/bcdn_token=" + bunnyToken("/films/a/", expires, "token_path=/films/a/") +
			"&token_path=%2Ffilms%2Fa%2F&expires=" + expires + "/films/a/index.m3u8",
		file: "/films/a.mp4?token=" + bunnyToken("/films/a.mp4", expires, "") + "&expires=" + expires,
	} {
		res, _ := d.get("bunny.socket", address)
		require.Equal(t, http.StatusFound, res.StatusCode, address)
		require.Equal(t, "https://zone.b-cdn.net"+to, res.Header.Get("Location"))
		require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	}
	for what, address := range refusedOf(directory, file, over) {
		res, _ := d.get("bunny.socket", address)
		require.Contains(t, []int{http.StatusForbidden, http.StatusBadRequest}, res.StatusCode, what)
	}
}
