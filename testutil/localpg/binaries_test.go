package localpg

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// machine is a tree of fake binaries and the search over it.
type machine struct {
	search
	root     string
	environ  map[string]string
	versions map[string]int
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	root, err := os.MkdirTemp("", "localpg")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	require.NoError(t, os.Chmod(root, 0o755))
	a, err := chooseAccount("")
	require.NoError(t, err)
	m := &machine{root: root, environ: map[string]string{}, versions: map[string]int{}}
	m.search = search{
		account: a,
		env:     func(name string) string { return m.environ[name] },
		debian:  filepath.Join(root, "debian"),
		cache:   filepath.Join(root, "cache"),
		version: func(_ context.Context, dir string) (int, error) {
			if v := m.versions[dir]; v != 0 {
				return v, nil
			}
			return 0, errors.New("does not run")
		},
	}
	return m
}

// install puts binaries of a major version into a directory and returns its path.
func (m *machine) install(t *testing.T, dir string, major int) string {
	t.Helper()
	dir = filepath.Join(m.root, dir)
	require.NoError(t, makeDirs(dir, 0o755))
	for _, name := range []string{"postgres", "initdb"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	m.versions[dir] = major
	return dir
}

func TestBinariesAreLookedForInOrder(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	find := func() string {
		bin, err := m.find(t.Context(), 0)
		require.NoError(t, err)
		return bin.Dir
	}
	_, err := m.find(t.Context(), 0)
	require.ErrorIs(t, err, errNoBinaries)
	for _, way := range []string{"apt-get install postgresql", "PG_BIN", "npm", "DATABASE_URL"} {
		require.ErrorContains(t, err, way)
	}

	fetched := m.install(t, "cache/postgres-15.18/native/bin", 15)
	require.Equal(t, fetched, find())

	inPath := m.install(t, "opt/pg/bin", 16)
	m.environ["PATH"] = "/nowhere:" + inPath
	require.Equal(t, inPath, find())

	m.install(t, "debian/9.6/bin", 9)
	require.Equal(t, inPath, find(), "too old")
	fifteen := m.install(t, "debian/15/bin", 15)
	require.Equal(t, fifteen, find())
	seventeen := m.install(t, "debian/17/bin", 17)
	require.Equal(t, seventeen, find())
	m.install(t, "debian/18/bin", 0)
	require.Equal(t, seventeen, find(), "18 does not run")

	named := m.install(t, "named", 15)
	m.environ["PG_BIN"] = named
	require.Equal(t, named, find())
}

func TestALinkInPathLeadsToTheBinaries(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	installed := m.install(t, "opt/pg/bin", 16)
	links := filepath.Join(m.root, "links")
	require.NoError(t, makeDirs(links, 0o755))
	require.NoError(t, os.Symlink(filepath.Join(installed, "postgres"), filepath.Join(links, "postgres")))
	m.environ["PATH"] = links

	bin, err := m.find(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, Binaries{Dir: installed, Major: 16}, bin)
}

func TestAWrongPGBINIsAnErrorAndNotPassedOver(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.install(t, "debian/15/bin", 15)
	m.environ["PG_BIN"] = filepath.Join(m.root, "nothing")
	_, err := m.find(t.Context(), 0)
	require.ErrorContains(t, err, "PG_BIN="+m.environ["PG_BIN"])
	require.NotErrorIs(t, err, errNoBinaries, "nothing is fetched behind the back of whoever set it")
}

func TestKeptDataNeedsItsOwnVersion(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.install(t, "debian/17/bin", 17)
	_, err := m.find(t.Context(), 15)
	require.ErrorContains(t, err, "made by Postgres 15, here is only version 17")

	fifteen := m.install(t, "debian/15/bin", 15)
	bin, err := m.find(t.Context(), 15)
	require.NoError(t, err)
	require.Equal(t, fifteen, bin.Dir)

	m.environ["PG_BIN"] = filepath.Join(m.root, "debian/17/bin")
	_, err = m.find(t.Context(), 15)
	require.ErrorContains(t, err, "is Postgres 17, and the data was made by Postgres 15")
}

func TestBinariesThatTheAccountCannotReachArePassedOver(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root steps down to another account")
	}
	m := newMachine(t)
	m.install(t, "debian/17/bin", 17)
	require.NoError(t, os.Chmod(filepath.Join(m.root, "debian/17"), 0o700))
	fifteen := m.install(t, "debian/15/bin", 15)
	bin, err := m.find(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, fifteen, bin.Dir)
}

func TestTheVersionIsReadFromTheProgram(t *testing.T) {
	t.Parallel()
	bin, err := FindOrFetch(t.Context(), t.Output())
	require.NoError(t, err)
	major, err := postgresVersion(t.Context(), bin.Dir)
	require.NoError(t, err)
	require.GreaterOrEqual(t, major, oldest)
	_, err = postgresVersion(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "ask for its version")
}
