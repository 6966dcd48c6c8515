package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
)

// Pages are what browsers are shown outside of the addresses of the API and the gateways.
type Pages interface {
	// Page writes what is at the request's path; false, with nothing written, where nothing is.
	Page(w http.ResponseWriter, r *http.Request) bool
	// NotFound writes the page for an address that is none, with status 404: the front end's whose address it would be.
	NotFound(w http.ResponseWriter, r *http.Request)
}

// inline finds the scripts and styles that a page carries.
var inline = regexp.MustCompile(`(?s)<(script|style)>(.*?)</(?:script|style)>`)

// InlinePolicy is the Content-Security-Policy of a page that carries its own scripts and styles:
// those run, by their hashes, and no others, and they call back to where the page came from alone.
func InlinePolicy(page []byte) string {
	sources := map[string]string{"script": "", "style": ""}
	for _, found := range inline.FindAllSubmatch(page, -1) {
		sum := sha256.Sum256(found[2])
		sources[string(found[1])] += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	policy := []string{"default-src 'none'"}
	for _, kind := range []string{"script", "style"} {
		if sources[kind] != "" {
			policy = append(policy, kind+"-src"+sources[kind])
		}
	}
	return strings.Join(append(policy, "connect-src 'self'", "img-src data:", "object-src 'none'", "base-uri 'none'",
		"form-action 'none'", "frame-ancestors 'none'"), "; ")
}

// ScriptedPage writes a page of ours that carries its own script and style and may only
// call back to where it came from. It sees the part of its address behind #, which is for
// it alone, and is kept nowhere.
func ScriptedPage(w http.ResponseWriter, page []byte) {
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy",
		"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-store")
	_, _ = w.Write(page)
}
