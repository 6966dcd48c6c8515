package localpg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// oldest is the lowest major version whose features the migrations and tests rely on.
const oldest = 15

// Binaries is a directory that holds postgres and initdb of one version.
type Binaries struct {
	Dir   string
	Major int
}

// Find looks for installed or formerly fetched binaries of at least version 15: in PG_BIN,
// in /usr/lib/postgresql/*/bin (newest first), in PATH and in the cache. It fetches nothing.
// The error is a sentence with the ways out.
func Find(ctx context.Context) (Binaries, error) {
	a, err := chooseAccount("")
	if err != nil {
		return Binaries{}, err
	}
	return systemSearch(a).find(ctx, 0)
}

// FindOrFetch is Find, and fetches binaries into the cache when there are none.
func FindOrFetch(ctx context.Context, progress io.Writer) (Binaries, error) {
	a, err := chooseAccount("")
	if err != nil {
		return Binaries{}, err
	}
	return findOrFetch(ctx, a, 0, progress)
}

// findOrFetch wants the given major version, or any when that is 0.
func findOrFetch(ctx context.Context, a account, major int, progress io.Writer) (Binaries, error) {
	s := systemSearch(a)
	bin, err := s.find(ctx, major)
	if !errors.Is(err, errNoBinaries) {
		return bin, err
	}
	if fetchErr := systemFetcher(s.cache, progress).fetch(ctx); fetchErr != nil {
		return Binaries{}, fmt.Errorf("%w; fetching them failed: %w", err, fetchErr)
	}
	return s.find(ctx, major)
}

// errNoBinaries names the ways out, so that it can end any sentence about it.
var errNoBinaries = errors.New("no usable Postgres binaries on this machine: install Postgres 15 or newer (Debian: apt-get install postgresql), " +
	"name their directory in PG_BIN, install npm so that they can be fetched, or set DATABASE_URL to your own Postgres")

// search is where binaries may be; its fields are the machine's, or a test's.
type search struct {
	account account
	env     func(string) string
	debian  string // holds <version>/bin
	cache   string // holds fetched packages
	version func(ctx context.Context, dir string) (int, error)
}

func systemSearch(a account) search {
	return search{
		account: a, env: os.Getenv, debian: "/usr/lib/postgresql", cache: cacheDir(), version: postgresVersion,
	}
}

// find takes the first candidate that is complete, new enough and open to the account. A
// PG_BIN that is not is an error: somebody meant it.
func (s search) find(ctx context.Context, major int) (Binaries, error) {
	if dir := s.env("PG_BIN"); dir != "" {
		bin, err := s.examine(ctx, dir)
		if err != nil {
			return Binaries{}, fmt.Errorf("PG_BIN=%s: %w", dir, err)
		}
		if major != 0 && bin.Major != major {
			return Binaries{},
				fmt.Errorf("PG_BIN=%s is Postgres %d, and the data was made by Postgres %d: name binaries of that version, or choose another --data-dir",
					dir, bin.Major, major)
		}
		return bin, nil
	}
	var others []string
	for _, dir := range s.candidates() {
		bin, err := s.examine(ctx, dir)
		if err != nil {
			continue
		}
		if major == 0 || bin.Major == major {
			return bin, nil
		}
		others = append(others, strconv.Itoa(bin.Major))
	}
	if len(others) > 0 {
		return Binaries{}, fmt.Errorf("the data was made by Postgres %d, here is only version %s; %w", major,
			strings.Join(others, ", "), errNoBinaries)
	}
	return Binaries{}, errNoBinaries
}

// candidates are the directories to look at after PG_BIN, best first.
func (s search) candidates() []string {
	dirs, _ := filepath.Glob(filepath.Join(s.debian, "*", "bin"))
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Compare(debianVersion(b), debianVersion(a)) })
	for _, dir := range filepath.SplitList(s.env("PATH")) {
		// A link in PATH leads to the directory where the rest of the version is.
		if postgres, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres")); err == nil {
			dirs = append(dirs, filepath.Dir(postgres))
		}
	}
	fetched, _ := filepath.Glob(filepath.Join(s.cache, "postgres-*", "native", "bin"))
	slices.Reverse(fetched)
	return append(dirs, fetched...)
}

// debianVersion is the 15 of /usr/lib/postgresql/15/bin.
func debianVersion(dir string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64)
	return v
}

func (s search) examine(ctx context.Context, dir string) (Binaries, error) {
	for _, name := range []string{"postgres", "initdb"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return Binaries{}, fmt.Errorf("no %s there: %w", name, err)
		}
		if info.IsDir() || !s.account.mayExecute(info) {
			return Binaries{}, fmt.Errorf("account %q, which Postgres runs as, may not execute %s", s.account.name,
				filepath.Join(dir, name))
		}
	}
	barrier, err := s.account.barrier(dir)
	if err != nil {
		return Binaries{}, err
	}
	if barrier != "" {
		return Binaries{}, fmt.Errorf("account %q, which Postgres runs as, cannot enter %s", s.account.name, barrier)
	}
	major, err := s.version(ctx, dir)
	if err != nil {
		return Binaries{}, err
	}
	if major < oldest {
		return Binaries{}, fmt.Errorf("its version %d is too old, %d or newer is needed", major, oldest)
	}
	return Binaries{Dir: dir, Major: major}, nil
}

var versionLine = regexp.MustCompile(`PostgreSQL\) (\d+)`)

func postgresVersion(ctx context.Context, dir string) (int, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0, fmt.Errorf("ask for its version: %w", err)
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("its version is %q, which says nothing", out)
	}
	return strconv.Atoi(string(m[1]))
}

// cacheDir is where fetched binaries are kept. Root's own cache is closed to the account that
// Postgres runs as, so root has a public one.
func cacheDir() string {
	if os.Geteuid() == 0 {
		return "/var/cache/marquee"
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "marquee")
}
