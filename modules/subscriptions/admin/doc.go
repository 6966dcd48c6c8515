// Package admin is what admins do with subscriptions.
//
// Owns: no table; /subscriptions… and /admin/…/subscriptions….
//
// Does not own: what their actions mean; the rooms below carry them out.
package admin
