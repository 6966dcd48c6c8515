// Package passwordlist knows the passwords that everybody tries first.
//
// common.txt holds, in lower case and the commonest first, the 10,000 commonest
// passwords of at least 8 characters; those of the 10,000 commonest of any length
// that are long enough are all among them. It is taken from passwords.json of the
// npm package @zxcvbn-ts/language-common 4.1.3 (MIT, LICENSE.txt).
package passwordlist

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed common.txt
var common string

var set = sync.OnceValue(func() map[string]struct{} {
	lines := strings.Fields(common)
	all := make(map[string]struct{}, len(lines))
	for _, line := range lines {
		all[line] = struct{}{}
	}
	return all
})

// Holds reports whether the password is on the list, whatever its case.
func Holds(password string) bool {
	_, found := set()[strings.ToLower(password)]
	return found
}
