// Package views is how staff want to see lists again: filter, sort and columns under a name, for themselves, for a
// profile or for all.
package views
