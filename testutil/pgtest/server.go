package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// server is the Postgres server of this test process, with the template on it.
type server struct {
	url      string        // of the maintenance database
	admin    *pgxpool.Pool // on the maintenance database
	session  *pgx.Conn     // holds the locks that say we live; see claim
	template string
	run      string // names our databases apart from other processes'
	made     atomic.Int64
	copySQL  string

	mu       sync.Mutex
	finished []string // databases of our ended tests
	spares   []*spare
}

// shared is opened by the first test that asks and lives as long as the process.
var shared = sync.OnceValues(func() (*server, error) {
	// Tests make much garbage on small heaps: a fifth of their time is its collection.
	debug.SetGCPercent(400)
	// The testing package keeps what a test's cleanups hold until the last test has ended: a
	// large package fills a small machine.
	debug.SetMemoryLimit(2 << 30)
	// Long enough to fetch binaries on a slow line; a test's own time limit is shorter anyhow.
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	address, err := serverURL(ctx)
	if err != nil {
		return nil, err
	}
	return openServer(ctx, address)
})

// serverURL is the first of the layers in the package comment.
func serverURL(ctx context.Context) (string, error) {
	if address := os.Getenv("TEST_DATABASE_URL"); address != "" {
		return address, nil
	}
	if engineIsUp(ctx) {
		address, err := containerURL(ctx)
		if err == nil {
			return address, nil
		}
		fmt.Fprintf(os.Stderr, "pgtest: the Docker engine gives no Postgres (%v), taking a private server\n", err)
	}
	return privateURL(ctx)
}

func openServer(ctx context.Context, address string) (*server, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("TEST_DATABASE_URL is not a Postgres connection URL")
	}
	cfg.MaxConns = 4
	admin, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return nil, err
	}
	s := &server{url: address, admin: admin, run: newRun()}
	if err := s.open(ctx); err != nil {
		admin.Close()
		return nil, err
	}
	go s.sweep(context.WithoutCancel(ctx))
	return s, nil
}

func (s *server) open(ctx context.Context) error {
	var version int
	if err := s.admin.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return fmt.Errorf("the test server does not answer: %w", err)
	}
	if version >= 150000 {
		// The other strategy writes every page through the log; older servers know only this one.
		s.copySQL = " STRATEGY FILE_COPY"
	}
	var err error
	if s.session, err = pgx.Connect(ctx, s.url); err != nil {
		return err
	}
	if s.template, err = s.ensureTemplate(ctx); err != nil {
		return fmt.Errorf("make the migrated template: %w", err)
	}
	return s.claim(ctx)
}

func newRun() string {
	b := make([]byte, 5)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// databaseURL is the server's URL with another database.
func (s *server) databaseURL(name string) (string, error) {
	u, err := url.Parse(s.url)
	if err != nil || u.Scheme == "" {
		return "", errors.New("TEST_DATABASE_URL must be a URL (postgres://…), not a list of keywords")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// lockKey is the advisory lock that stands for a name. Such locks belong to one database:
// all of ours are taken in the maintenance database.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("marquee/pgtest/" + name))
	return int64(h.Sum64())
}
