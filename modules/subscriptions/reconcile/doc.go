// Package reconcile compares subscriptions with what the gateways say of them, by night, at
// logins, before a period ends, and when an event that is no proof told of a change.
//
// Owns: no table. What is found late is applied as if it had been told.
//
// Does not own: recurrences that no subscription has (room strays).
package reconcile
