// Package sandbox runs both payment gateways in miniature on loopback addresses: real HTTP, real webhooks. It serves the development
// command and the tests, and cannot be reached from the serving command.
//
// It owns the two listeners and the state files; what each gateway does is in gwa and gwb, what they share is in stage. It knows
// nothing of the product's modules.
//
// Each gateway answers GET /_sandbox with the list of its controls: pay or expire a PIX code, renew, fail the next call, delay or
// reorder webhooks, advance the clock, and so on. A browser gets a page.
package sandbox
