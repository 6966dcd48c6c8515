// Package objectid makes and reads the 24-hex identifiers that every record
// carries. They keep the form of the document database that API clients grew up
// with: four bytes of unix seconds, five random bytes a process, three bytes of
// a counter, so that ids made by one process sort by creation.
package objectid

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"sync/atomic"
	"time"
)

// ID is an ObjectId in its only stored form: 24 lower-case hex digits. The zero
// value "" stands for no id. Postgres holds it as platform.object_id.
type ID string

// ErrMalformed says that a text is not 24 hex digits.
var ErrMalformed = errors.New("has to be an id of 24 hexadecimal digits")

var (
	process = randomBytes(5)
	counter = newCounter()
)

// New returns an id for the present instant.
func New() ID { return At(time.Now()) }

// At returns a fresh id whose leading seconds are those of t.
func At(t time.Time) ID {
	var b [12]byte
	binary.BigEndian.PutUint32(b[:4], uint32(t.Unix())) //nolint:gosec // four bytes of seconds: the format
	copy(b[4:9], process)
	n := counter.Add(1)
	b[9], b[10], b[11] = byte(n>>16), byte(n>>8), byte(n) //nolint:gosec // three bytes of the counter: the format
	return ID(hex.EncodeToString(b[:]))
}

// Parse reads 24 hex digits of either case.
func Parse(s string) (ID, error) {
	if !Valid(s) {
		return "", ErrMalformed
	}
	return ID(strings.ToLower(s)), nil
}

// Valid reports whether s is 24 hex digits of either case.
func Valid(s string) bool {
	if len(s) != 24 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// String returns the 24 hex digits.
func (id ID) String() string { return string(id) }

// Strings are the ids as texts, for parameters of SQL.
func Strings(ids []ID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = string(id)
	}
	return texts
}

// Time returns the instant, in whole seconds, that the id was made for.
func (id ID) Time() time.Time {
	b, err := hex.DecodeString(string(id))
	if err != nil || len(b) < 4 {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint32(b)), 0).UTC()
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never fails since Go 1.24
	return b
}

func newCounter() *atomic.Uint32 {
	var c atomic.Uint32
	// The upper half is left free so that ids of one second don't wrap around.
	c.Store(binary.BigEndian.Uint32(randomBytes(4)) & 0x7fffff)
	return &c
}
