package postgres

import "strings"

// IsShutDown reports whether the server has ended the session, or takes none: because it stops, starts or recovers, or
// as an operator has told it to.
func IsShutDown(err error) bool {
	c := code(err)
	return strings.HasPrefix(c, "57P") || strings.HasPrefix(c, "08")
}
