package pages

import "strings"

// What a page may load: its own files, and nothing that is written into it.
const (
	sources   = "default-src 'self'; img-src 'self' blob: data:; "
	nobodys   = "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
	ofConsole = sources + nobodys
	// The scanner's decoder is WebAssembly.
	ofDoor = sources + "script-src 'self' 'wasm-unsafe-eval'; " + nobodys
	ofSite = sources + "media-src 'self' blob:; " + nobodys
	// Gateway B takes cards in frames and by a script of its own, which may not be kept elsewhere.
	ofSiteWithGatewayB = sources + "media-src 'self' blob:; script-src 'self' https://js.stripe.com; " +
		"frame-src https://js.stripe.com https://hooks.stripe.com; connect-src 'self' https://api.stripe.com; " + nobodys
)

// policyAt is the Content-Security-Policy of what is at the path.
func (p *Pages) policyAt(at string) string {
	switch {
	case strings.HasPrefix(at, "/console/"):
		return ofConsole
	case strings.HasPrefix(at, "/door/"), strings.HasPrefix(at, assets): // where the scanner's worker is, too
		return ofDoor
	case p.gatewayB:
		return ofSiteWithGatewayB
	}
	return ofSite
}
