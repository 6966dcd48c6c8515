package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"

	"marquee/platform/httpapi"
	"marquee/platform/secret"
)

const (
	saltBytes = 16
	hashBytes = 32
)

// signInsPerCore bounds who has a turn at the hasher or waits for one: about a second of work.
const signInsPerCore = 32

// PasswordCost is the price of one argon2id hash.
type PasswordCost struct {
	Passes    uint32
	MemoryKiB uint32
	Threads   uint8
}

// Hasher makes and checks password hashes, as many at once as there are cores:
// more would only make all of them slower and take memory.
type Hasher struct {
	cost   PasswordCost
	turns  *turns
	dummy  string
	checks atomic.Int64 // hashes computed to check a password
	made   atomic.Int64 // hashes computed to keep a password
}

// NewHasher makes the hasher of a process that works on so many requests at once, at half of which it is asked at most,
// so that those of other routes find their places beside a crowd who sign in. The cost that is not told is 2 passes
// over 19 MiB.
func NewHasher(cost PasswordCost, requests int) *Hasher {
	cost = cmp.Or(cost, PasswordCost{Passes: 2, MemoryKiB: 19 << 10, Threads: 1})
	cores, most := runtime.GOMAXPROCS(0), max(requests/2, 2)
	atOnce := min(cores, most-1)
	h := &Hasher{cost: cost, turns: newTurns(atOnce, min(cores*signInsPerCore, most)-atOnce)}
	h.dummy = h.phc(random(saltBytes), random(hashBytes)) // of no password
	return h
}

// acquire waits for a turn among those of the client's address; 503 when too many wait already.
func (h *Hasher) acquire(ctx context.Context) error {
	return h.turns.take(ctx, httpapi.ClientNetwork(ctx))
}

func (h *Hasher) release() { h.turns.end() }

// Hash returns the PHC text of a password that is to be kept; 503 when too many wait already.
func (h *Hasher) Hash(ctx context.Context, password secret.Text) (string, error) {
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer h.release()
	h.made.Add(1)
	return h.derive(password.Reveal()), nil
}

func (h *Hasher) derive(password string) string {
	salt := random(saltBytes)
	sum := argon2.IDKey([]byte(password), salt, h.cost.Passes, h.cost.MemoryKiB, h.cost.Threads, hashBytes)
	return h.phc(salt, sum)
}

// phc is the text of a hash of the hasher's cost.
func (h *Hasher) phc(salt, sum []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.MemoryKiB, h.cost.Passes,
		h.cost.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum))
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // crypto/rand never fails since Go 1.24
	return b
}

// turn runs f while it is the caller's turn, in which f may call verify.
func (h *Hasher) turn(ctx context.Context, f func() error) error {
	if err := h.acquire(ctx); err != nil {
		return err
	}
	defer h.release()
	return f()
}

// verify reports whether the password is the stored one, and whether the stored
// hash should be made anew. A nil hash takes as long as a real one and never
// matches, so that the time does not tell whether a user exists.
func (h *Hasher) verify(password secret.Text, stored *string) (ok, stale bool, err error) {
	h.checks.Add(1)
	if stored == nil {
		_, _, err := h.compare(password, h.dummy)
		return false, false, err
	}
	return h.compare(password, *stored)
}

func (h *Hasher) compare(password secret.Text, stored string) (ok, stale bool, err error) {
	if strings.HasPrefix(stored, "$2") {
		err := bcrypt.CompareHashAndPassword([]byte(stored), []byte(password.Reveal()))
		if err != nil && !errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
			return false, false, errors.New("a stored bcrypt hash is malformed")
		}
		return err == nil, true, nil
	}
	cost, salt, sum, err := parsePHC(stored)
	if err != nil {
		return false, false, err
	}
	got := argon2.IDKey([]byte(password.Reveal()), salt, cost.Passes, cost.MemoryKiB, cost.Threads, uint32(len(sum))) //nolint:gosec // a digest is short
	return subtle.ConstantTimeCompare(got, sum) == 1, cost != h.cost, nil
}

// errMalformedHash does not show the hash.
var errMalformedHash = errors.New("a stored password hash is malformed")

func parsePHC(stored string) (cost PasswordCost, salt, sum []byte, err error) {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return cost, nil, nil, errMalformedHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &cost.MemoryKiB, &cost.Passes, &cost.Threads); err != nil {
		return cost, nil, nil, errMalformedHash
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	sum, sumErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil || len(sum) < 16 || cost.Passes == 0 || cost.Threads == 0 {
		return cost, nil, nil, errMalformedHash
	}
	return cost, salt, sum, nil
}

// Checks counts the password hashes computed to check a password.
func (h *Hasher) Checks() int64 { return h.checks.Load() }

// Made counts the password hashes computed to keep a password.
func (h *Hasher) Made() int64 { return h.made.Load() }
