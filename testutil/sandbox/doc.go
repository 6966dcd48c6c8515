// Package sandbox runs both payment gateways in miniature on loopback addresses: real HTTP, real webhooks. Tests start
// it, `marquee dev` and `marquee sandbox` do, and nothing else imports it: a binary for production is built without it
// (-tags nosandbox).
//
// It owns the two listeners and the state files; what each gateway does is in gwa and gwb, what they share is in stage.
// It knows nothing of the product's modules.
//
// Each gateway answers GET /_sandbox with the list of its controls: pay or expire a PIX code, renew, fail the next
// call, delay or reorder webhooks, advance the clock, and so on. A browser gets a page.
//
// The README beside this file has them all, with a walk by curl.
package sandbox
