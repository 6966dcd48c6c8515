package sessions

import (
	"crypto/sha256"
	"sync"
	"time"

	"marquee/platform/httpapi"
)

// maxVerified bounds the tokens that a process remembers, at some 200 bytes each.
const maxVerified = 20_000

// verifiedTokens remembers tokens whose signature has been checked, by their
// SHA-256, so that a client's every request does not parse and check the same
// one. Only what a token says is remembered: whether its user may come in is read
// from the database each time.
type verifiedTokens struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]verifiedToken
}

type verifiedToken struct {
	kind    tokenKind
	claims  httpapi.Claims
	expires time.Time
}

// find returns a remembered token of the kind that is not over at now.
func (v *verifiedTokens) find(hash [sha256.Size]byte, kind tokenKind, now time.Time) (httpapi.Claims, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	t, ok := v.known[hash]
	if !ok || t.kind != kind || !now.Before(t.expires) {
		return httpapi.Claims{}, false
	}
	return t.claims, true
}

// keep remembers a token. A full memory starts anew: checking again is cheap.
func (v *verifiedTokens) keep(hash [sha256.Size]byte, t verifiedToken) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil || len(v.known) >= maxVerified {
		v.known = map[[sha256.Size]byte]verifiedToken{}
	}
	v.known[hash] = t
}
