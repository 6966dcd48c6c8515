// Package film is the sample film that `marquee dev` plays, and whoever serves films in miniature: it checks stream
// URLs as docs/streaming.md says. A binary for production holds neither (-tags nosandbox). It imports nothing of ours.
package film

import (
	"embed"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

//go:embed files
var files embed.FS

// HLSPath is where the Server has the film of a name as an HLS directory.
func HLSPath(name string) string { return "/films/" + name + "/index.m3u8" }

// DirectPath is where the Server has it as one file.
func DirectPath(name string) string { return "/films/" + name + "/film.mp4" }

// types are those of the files, by the ends of their names.
var types = map[string]string{
	".m3u8": "application/vnd.apple.mpegurl",
	".m4s":  "video/iso.segment",
	".mp4":  "video/mp4",
	".vtt":  "text/vtt; charset=utf-8",
}

// Server serves the film under any name, to whom a stream URL that is signed and alive admits: 403 to others.
type Server struct {
	Key []byte
	Now func() time.Time
	Dir string // holds further films, each in a directory of its name; "": none
}

// ServeHTTP answers GET, HEAD and ranges, to pages of any origin.
func (s Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*") // of a refusal too: a player that cannot read it does not ask anew
	h.Set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		h.Set("Access-Control-Allow-Methods", "GET, HEAD")
		h.Set("Access-Control-Allow-Headers", "Range")
		h.Set("Access-Control-Max-Age", "7200")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		h.Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(w, "The film is read alone.", http.StatusMethodNotAllowed)
		return
	}
	at, allowed := Inside(r, s.Key, s.Now())
	if !allowed && Allowed(r, s.Key, s.Now()) {
		at, allowed = r.URL.EscapedPath(), true
	}
	if !allowed {
		http.Error(w, "The address is not signed, or its time is over: ask for a stream URL.", http.StatusForbidden)
		return
	}
	s.serve(w, r, at)
}

// serve answers with the file of a path that is admitted: /films/<name>/<file>.
func (s Server) serve(w http.ResponseWriter, r *http.Request, at string) {
	content := s.open(at)
	if content == nil {
		http.Error(w, "There is no such film, or it has no such file.", http.StatusNotFound)
		return
	}
	defer func() { _ = content.Close() }()
	w.Header().Set("Content-Type", types[path.Ext(at)])
	w.Header().Set("Cache-Control", "no-store") // each request meets the check
	http.ServeContent(w, r, "", time.Time{}, content)
}

// open returns nil for what is not there.
func (s Server) open(at string) io.ReadSeekCloser {
	below, is := strings.CutPrefix(at, "/films/")
	name, file, _ := strings.Cut(below, "/")
	from, place := fs.FS(files), "files/"+file
	if s.Dir != "" && fs.ValidPath(name) {
		if _, err := os.Stat(filepath.Join(s.Dir, name)); err == nil {
			from, place = os.DirFS(s.Dir), below
		}
	}
	if _, known := types[path.Ext(file)]; !is || !known {
		return nil
	}
	f, err := from.Open(place)
	if err != nil {
		return nil
	}
	content, seeks := f.(io.ReadSeekCloser)
	if about, err := f.Stat(); err != nil || about.IsDir() || !seeks {
		_ = f.Close()
		return nil
	}
	return content
}
