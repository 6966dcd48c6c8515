package idempotency

import (
	"bytes"
	"context"
	"crypto/cipher"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"marquee/platform/clock"
	"marquee/platform/fault"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/secret"
)

const (
	// Retention is how long a key is known.
	Retention = 24 * time.Hour
	// MaxKey bounds a key, in characters.
	MaxKey = 255
	// lease is longer than any request takes: 90 s until its context ends, and then
	// at most a gateway's 75 s that are waited for all the same.
	lease = 4 * time.Minute
	// retryAfter is when a repetition may ask again while the first is under way.
	retryAfter = 2 * time.Second
)

// The machine codes of 409.
const (
	CodeReused     = "IDEMPOTENCY_KEY_REUSED"
	CodeInProgress = "IDEMPOTENCY_KEY_IN_PROGRESS"
)

func errReused() *fault.Error {
	return &fault.Error{
		Kind: fault.KindConflict, Code: CodeReused, Field: "Idempotency-Key",
		Message: "This Idempotency-Key was sent with another body. Use a new key for a new request.",
	}
}

// InProgress is 409 while the first request with the key is under way, or while it
// is being found out what became of it.
func InProgress() *fault.Error {
	return &fault.Error{
		Kind: fault.KindConflict, Code: CodeInProgress, Field: "Idempotency-Key", RetryAfter: retryAfter,
		Message: "The first request with this Idempotency-Key is still under way. Repeat it in a moment.",
	}
}

// CheckKey is 422 for a key that is empty, longer than MaxKey, or holds anything
// but visible ASCII characters.
func CheckKey(key string) error {
	if key == "" || len(key) > MaxKey || strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }) {
		return fault.InvalidAt(fmt.Sprintf("has to be 1 to %d visible ASCII characters without blanks", MaxKey),
			"header", "Idempotency-Key")
	}
	return nil
}

// Store keeps the keys, in Postgres.
type Store struct {
	pool      postgres.Pool
	clock     clock.Clock
	keys      []byte // of the hashes of keys
	bodies    []byte // of the hashes of bodies
	responses cipher.AEAD
}

// New makes a store; its keys are derived from the master key, so that every
// process has the same.
func New(pool postgres.Pool, c clock.Clock, master []byte) *Store {
	return &Store{
		pool: pool, clock: c, responses: secret.NewAEAD(master, "idempotency/answers"),
		keys: secret.Derive(master, "idempotency/keys"), bodies: secret.Derive(master, "idempotency/bodies"),
	}
}

// Request is what a client sent.
type Request struct {
	Route  string // operation id
	Path   string // that was called, where the route's has parameters: another one is another body
	Caller string // whom the key belongs to; the same text for the same caller alone
	Key    string
	Body   []byte
}

// Response is what a client got.
type Response struct {
	Status int    `json:"status"`
	Body   []byte `json:"body"`
}

const claimSQL = `
INSERT INTO platform.idempotency_keys AS k (key_mac, body_mac, attempt_id, running_until, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (key_mac) DO UPDATE SET
    body_mac = excluded.body_mac, attempt_id = excluded.attempt_id, running_until = excluded.running_until,
    answer = NULL,
    subject_id = CASE WHEN k.created_at > $6 THEN k.subject_id END,
    created_at = CASE WHEN k.created_at > $6 THEN k.created_at ELSE excluded.created_at END
WHERE k.running_until <= $5 AND (k.created_at <= $6 OR k.answer IS NULL AND k.body_mac = excluded.body_mac)
RETURNING subject_id`

// Begin claims the key for a request that has not been answered yet, or returns
// the answer of one that has. Errors: 409 CodeReused for another body, 409
// CodeInProgress while the first is under way.
func (s *Store) Begin(ctx context.Context, r Request) (*Attempt, *Response, error) {
	a := &Attempt{store: s, id: objectid.New(), keyMAC: secret.MAC(s.keys, r.Route, r.Caller, r.Key)}
	bodyMAC := secret.MAC(s.bodies, strings.TrimSpace(r.Route+" "+r.Path), string(canonical(r.Body)))
	for {
		now := s.clock.Now()
		err := s.pool.QueryRow(ctx, claimSQL, a.keyMAC, bodyMAC, a.id, now.Add(lease), now, now.Add(-Retention)).
			Scan(&a.subject)
		if err == nil {
			return a, nil, nil
		}
		if !postgres.IsNoRows(err) {
			// It may have been claimed all the same: who hung up, or lost the connection, comes again with the key.
			_ = a.Release(context.WithoutCancel(ctx))
			return nil, nil, fmt.Errorf("claim idempotency key: %w", err)
		}
		var known, sealed []byte
		err = s.pool.QueryRow(ctx, "SELECT body_mac, answer FROM platform.idempotency_keys WHERE key_mac = $1",
			a.keyMAC).Scan(&known, &sealed)
		switch {
		case postgres.IsNoRows(err):
			continue // given up between the two statements
		case err != nil:
			return nil, nil, fmt.Errorf("read idempotency key: %w", err)
		case !secret.Equal(known, bodyMAC):
			return nil, nil, errReused()
		case sealed == nil:
			return nil, nil, InProgress()
		}
		response, err := s.open(a.keyMAC, sealed)
		return nil, response, err
	}
}

// Purge removes keys that are older than Retention.
func (s *Store) Purge(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, "DELETE FROM platform.idempotency_keys WHERE created_at <= $1",
		s.clock.Now().Add(-Retention)); err != nil {
		return fmt.Errorf("purge idempotency keys: %w", err)
	}
	return nil
}

// canonical is a JSON body without what no meaning hangs on: blanks and the order
// of members. Anything else stays as it is.
func canonical(body []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return body
	}
	plain, err := json.Marshal(v)
	if err != nil || d.More() {
		return body
	}
	return plain
}

func (s *Store) seal(keyMAC []byte, a Response) ([]byte, error) {
	plain, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("seal answer: %w", err)
	}
	return s.responses.Seal(nil, nil, plain, keyMAC), nil //nolint:gosec // the cipher makes the nonce
}

func (s *Store) open(keyMAC, sealed []byte) (*Response, error) {
	plain, err := s.responses.Open(nil, nil, sealed, keyMAC)
	if err != nil {
		return nil, fmt.Errorf("open kept answer: %w", err)
	}
	a := new(Response)
	if err := json.Unmarshal(plain, a); err != nil {
		return nil, fmt.Errorf("read kept answer: %w", err)
	}
	return a, nil
}

// Attempt is a claimed key. Its methods may be called on nil, which stands for a
// request without a key, and then do nothing.
type Attempt struct {
	store   *Store
	id      objectid.ID
	keyMAC  []byte
	subject *objectid.ID
	open    bool
}

type attemptKey struct{}

// WithAttempt makes AttemptOf know the attempt.
func WithAttempt(ctx context.Context, a *Attempt) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

// AttemptOf returns the attempt behind a request; nil without a key.
func AttemptOf(ctx context.Context) *Attempt {
	a, _ := ctx.Value(attemptKey{}).(*Attempt)
	return a
}

// Subject is the row that an earlier attempt with the key has committed; "" when
// there is none.
func (a *Attempt) Subject() objectid.ID {
	if a == nil || a.subject == nil {
		return ""
	}
	return *a.subject
}

// KeepOpen says that what is answered now is not the final word: the next
// repetition looks again.
func (a *Attempt) KeepOpen() {
	if a != nil {
		a.open = true
	}
}

// Final reports whether the answer is to be kept.
func (a *Attempt) Final() bool { return a != nil && !a.open }

// BindTx records the row of the request in the transaction that writes
// it, with its next statement; 409 CodeInProgress, which undoes the transaction, when another attempt has
// taken over.
func (a *Attempt) BindTx(ctx context.Context, tx pgx.Tx, subject objectid.ID) error {
	if a == nil {
		return nil
	}
	err := postgres.ChangeLater(ctx, tx, InProgress(),
		"UPDATE platform.idempotency_keys SET subject_id = $3 WHERE key_mac = $1 AND attempt_id = $2 AND answer IS NULL", a.keyMAC, a.id, subject)
	if err != nil {
		return fmt.Errorf("bind idempotency key: %w", err)
	}
	return nil
}

// Finish keeps the answer for the repetitions to come.
func (a *Attempt) Finish(ctx context.Context, response Response) error {
	sealed, err := a.store.seal(a.keyMAC, response)
	if err != nil {
		return err
	}
	// In a transaction a connection need not be told first, nor told back, how long this may wait.
	err = postgres.InTx(ctx, a.store.pool, func(tx pgx.Tx) error {
		_, err := postgres.Later(tx).Exec(ctx,
			`UPDATE platform.idempotency_keys SET answer = $3, running_until = $4 WHERE key_mac = $1 AND attempt_id = $2`,
			a.keyMAC, a.id, sealed, a.store.clock.Now())
		return err
	})
	if err != nil {
		return fmt.Errorf("keep answer: %w", err)
	}
	return nil
}

// Release lets the next repetition go on: from the start when the request has written no
// row, else from that row. It is tried once more, on another connection, where the first has ended: the key stayed
// claimed for all of its lease else.
func (a *Attempt) Release(ctx context.Context) error {
	if err := a.release(ctx); !postgres.IsGone(err) {
		return err
	}
	return a.release(ctx)
}

func (a *Attempt) release(ctx context.Context) error {
	b := &pgx.Batch{}
	b.Queue("DELETE FROM platform.idempotency_keys WHERE key_mac = $1 AND attempt_id = $2 AND subject_id IS NULL",
		a.keyMAC, a.id)
	b.Queue("UPDATE platform.idempotency_keys SET running_until = $3 WHERE key_mac = $1 AND attempt_id = $2", a.keyMAC,
		a.id, a.store.clock.Now())
	if err := a.store.pool.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("release idempotency key: %w", err)
	}
	return nil
}
