package httpapi

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// notFound answers addresses that are no route: with the page that is there, if pages are
// served. A person who types one that means a route, without Prefix or with a slash at the
// end, is led there; a client that writes is told its address, since it would hardly send
// its body again.
func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	pages := pagesFor(r, a.cfg.Pages)
	if pages != nil && pages.Page(w, r) {
		return
	}
	meant := a.meant(r)
	switch {
	case meant == "" && pages != nil && !wantsJSON(r):
		pages.NotFound(w, r)
	case meant == "":
		plainError(http.StatusNotFound)(w, r)
	case reads(r):
		if r.URL.RawQuery != "" {
			meant += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", meant)
		WriteJSON(w, http.StatusTemporaryRedirect, &ErrorBody{Detail: "See " + meant})
	default:
		WriteJSON(w, http.StatusNotFound, &ErrorBody{Detail: "Not Found; the address is " + meant})
	}
}

// meant is the path of the route that the request's path stands for, or "". It begins
// with a route's own words, so that it never leads to another host.
func (a *API) meant(r *http.Request) string {
	path := strings.TrimRight(r.URL.EscapedPath(), "/")
	if reads(r) && (path == "" || path == "/api" || path == Prefix) {
		return Prefix + "/docs"
	}
	for _, candidate := range []string{path, Prefix + path, "/api" + path} {
		if candidate != r.URL.EscapedPath() && a.mux.Match(chi.NewRouteContext(), r.Method, candidate) {
			return candidate
		}
	}
	return ""
}

// pagesFor is nil for what is of no page: requests that write, and the addresses of the API and
// of the gateways, whose answers are JSON.
func pagesFor(r *http.Request, all Pages) Pages {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !reads(r) || first == "api" || first == "webhooks" {
		return nil
	}
	return all
}

// wantsJSON reports whether the client names JSON, and no page, as what it takes.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }
