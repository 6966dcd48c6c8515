// Package pages serves what a browser shows beside the API: the front ends that Vite built,
// a page about the platform where there is no site, and one for addresses that are none.
package pages

import (
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// Config is what New needs.
type Config struct {
	// Dist holds the front ends: console/index.html, door/index.html, index.html (the site), and
	// below assets files whose names change with their content. name.br is name by Brotli.
	Dist fs.FS
	// Plain holds home.html and not-found.html in each of the languages, such as home.pt.html, and
	// plain.css and home.js, which are written into them.
	Plain  fs.FS
	NoSite bool // only the staff's pages are served: what is at / and the door's are not
	// GatewayB lets the site run gateway B's script, which needs a real publishable key.
	GatewayB bool
}

// Pages finds the page of an address.
type Pages struct {
	files    map[string]*file // by path, with the slash in front
	noSite   bool
	gatewayB bool
	home     translated
	notFound translated
}

// areas are the front ends, each with the page that stands for all addresses below it; the
// site's come last, since it has all that is nobody else's.
var areas = []struct{ root, page string }{
	{"/console/", "/console/index.html"},
	{"/door/", "/door/index.html"},
	{"/", "/index.html"},
}

// New reads all files.
func New(cfg Config) (*Pages, error) {
	p := &Pages{files: map[string]*file{}, noSite: cfg.NoSite, gatewayB: cfg.GatewayB}
	err := fs.WalkDir(cfg.Dist, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) == brotliEnd || strings.HasPrefix(path.Base(name), ".") {
			return err
		}
		p.files["/"+name], err = readFile(cfg.Dist, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the front ends: %w", err)
	}
	// An area without its page is not there at all.
	cuts := map[string]bool{"console": p.files["/console/index.html"] != nil}
	p.home, err = translate(cfg.Plain, "home", cuts)
	if err == nil {
		p.notFound, err = translate(cfg.Plain, "not-found", cuts)
	}
	if err != nil {
		return nil, fmt.Errorf("read the plain pages: %w", err)
	}
	return p, nil
}

// Page writes what is at the request's path; false, with nothing written, where nothing is. The
// address of an area without its last slash leads to the area.
func (p *Pages) Page(w http.ResponseWriter, r *http.Request) bool {
	at := r.URL.Path
	if f := p.files[at]; f != nil && p.serves(at) {
		f.write(w, r, p.policyAt(at), http.StatusOK)
		return true
	}
	for _, area := range areas {
		page := p.files[area.page]
		switch {
		case page == nil || !p.serves(area.root):
		case at+"/" == area.root:
			w.Header().Set("Cache-Control", revalidate)
			http.Redirect(w, r, area.root, http.StatusPermanentRedirect)
			return true
		case strings.HasPrefix(at, area.root) && !isFile(at):
			page.write(w, r, p.policyAt(at), http.StatusOK)
			return true
		}
	}
	if at == "/" {
		p.home.write(w, r, http.StatusOK)
		return true
	}
	return false
}

// NotFound writes the page about an address that is none, with status 404. Below an area whose front end is there, that
// says it in its own words.
func (p *Pages) NotFound(w http.ResponseWriter, r *http.Request) {
	at := r.URL.Path
	for _, area := range areas {
		page := p.files[area.page]
		if page != nil && p.serves(area.root) && strings.HasPrefix(at, area.root) && !isFile(at) {
			page.write(w, r, p.policyAt(at), http.StatusNotFound)
			return
		}
	}
	p.notFound.write(w, r, http.StatusNotFound)
}

// serves reports whether what is at the path is for anybody: without a site, the console and the
// files that all share.
func (p *Pages) serves(at string) bool {
	return !p.noSite || strings.HasPrefix(at, "/console/") || strings.HasPrefix(at, assets)
}

// isFile reports whether an address means a file, which is there or not, and no place in a page.
func isFile(at string) bool { return strings.HasPrefix(at, assets) || path.Ext(path.Base(at)) != "" }
