package httpapi

import "net/http"

// ScriptedPage writes a page of ours that carries its own script and style and may only
// call back to where it came from. It sees the part of its address behind #, which is for
// it alone, and is kept nowhere.
func ScriptedPage(w http.ResponseWriter, page []byte) {
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy",
		"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-store")
	_, _ = w.Write(page)
}
