package httpapi

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// notFound answers addresses that are no route. A person who types one that means a
// route, without Prefix or with a slash at the end, is led there; a client that writes
// is told its address, since it would hardly send its body again.
func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	meant := a.meant(r)
	switch {
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

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }
