// Package openapi holds the OpenAPI document to what clients are generated with: it is linted, and clients in TypeScript
// and Go, generated of it, go through a story against a running binary.
package openapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/oapi-codegen/runtime" // what oapi-codegen writes imports it
)

// The Node that package.json asks for.
const leastMajor, leastMinor = 20, 19

// TestTheDocumentIsClean: redocly finds nothing by its recommended rules.
func TestTheDocumentIsClean(t *testing.T) {
	t.Parallel()
	packages := npm(t)
	run(t, ".", nil, filepath.Join(packages, ".bin", "redocly"), "lint", documentOf(t), "--config", "redocly.yaml",
		"--max-problems", "20")
}

// TestTheTypeScriptClientRunsItsStory under TypeScript's strict rules.
func TestTheTypeScriptClientRunsItsStory(t *testing.T) {
	t.Parallel()
	packages, dir := npm(t), t.TempDir()
	for _, name := range []string{"story.ts", "tsconfig.json"} {
		copyFile(t, filepath.Join("testdata", "ts", name), filepath.Join(dir, name))
	}
	if cast := regexp.MustCompile(`\bas (?:const|any|unknown|[A-Z{])|: any\b|@ts-|\w!\.`).FindString(read(t, filepath.Join(dir, "story.ts"))); cast != "" {
		t.Errorf("the story goes round the types by %q", cast)
	}
	write(t, filepath.Join(dir, "package.json"), `{"type": "module"}`)
	if err := os.Symlink(packages, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	bin := func(name string) string { return filepath.Join(packages, ".bin", name) }
	run(t, dir, nil, bin("openapi-typescript"), documentOf(t), "-o", filepath.Join(dir, "api.ts"))
	run(t, dir, nil, bin("tsc"), "-p", "tsconfig.json")
	out := run(t, dir, nil, "node", filepath.Join("build", "story.js"), serve(t))
	if !strings.Contains(out, "done") {
		t.Fatalf("the story did not end: %s", out)
	}
}

// mostLines is how long the client in Go may be. By the templates of oapi-codegen alone it has some 66,000 lines.
const mostLines = 15_000

// TestTheGoClientRunsItsStory: it has all operations, and what it calls is what oapi-codegen wrote.
func TestTheGoClientRunsItsStory(t *testing.T) {
	t.Parallel()
	dir, document := t.TempDir(), documentOf(t)
	for _, name := range []string{"go.mod", "go.sum"} {
		copyFile(t, name, filepath.Join(dir, name))
	}
	copyFile(t, filepath.Join("testdata", "go", "story.go"), filepath.Join(dir, "main.go"))
	file := filepath.Join(dir, "client", "client.go")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	run(t, filepath.Join("testdata", "go"), nil, "go", "tool", "-modfile="+module, "oapi-codegen",
		"-config", "oapi-codegen.yaml", "-o", file, document)
	written := read(t, file)
	lines := strings.Count(written, "\n")
	if lines >= mostLines {
		t.Errorf("the client in Go has %d lines, and may have fewer than %d", lines, mostLines)
	}
	methods, operations := strings.Count(written, "\nfunc (c *Client) "), operationsOf(t, document)
	if methods < operations {
		t.Errorf("the client in Go has %d methods for %d operations", methods, operations)
	}
	t.Logf("%d lines for %d operations", lines, operations)
	binary := filepath.Join(dir, "story")
	run(t, dir, []string{"CGO_ENABLED=0", "GOFLAGS=-buildvcs=false"}, "go", "build", "-o", binary, ".")
	if out := run(t, dir, nil, binary, serve(t)); !strings.Contains(out, "done") {
		t.Fatalf("the story did not end: %s", out)
	}
}

// operationsOf counts the operations of a document.
func operationsOf(t *testing.T, file string) (n int) {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(read(t, file)), &document); err != nil {
		t.Fatal(err)
	}
	for _, methods := range document.Paths {
		for method := range methods {
			if method != "parameters" {
				n++
			}
		}
	}
	return n
}

// npm installs the packages once and returns where they are; a test is left out, in words, where there is no Node.
func npm(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		t.Skip("left out: Node is not installed; from 20.19 on it lints the document and runs the client in TypeScript")
	}
	version := regexp.MustCompile(`^v(\d+)\.(\d+)`).FindStringSubmatch(string(out))
	if version == nil {
		t.Fatalf("node --version says %q", out)
	}
	major, _ := strconv.Atoi(version[1])
	minor, _ := strconv.Atoi(version[2])
	if major < leastMajor || major == leastMajor && minor < leastMinor {
		t.Skipf("left out: Node %s is too old, it has to be %d.%d or later", bytes.TrimSpace(out), leastMajor, leastMinor)
	}
	if err := installed(); err != nil {
		t.Fatal(err)
	}
	packages, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// installed runs npm ci unless what is there is what the lock file says.
var installed = sync.OnceValue(func() error {
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		return err
	}
	const mark = "node_modules/.installed"
	if done, err := os.ReadFile(mark); err == nil && bytes.Equal(done, lock) {
		return nil
	}
	command := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return os.WriteFile(mark, lock, 0o600)
})

// product is where the binary is built.
var product string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "marquee-openapi-")
	if err != nil {
		panic(err)
	}
	product = filepath.Join(dir, "marquee")
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// build makes the binary, once.
var build = sync.OnceValue(func() error {
	command := exec.Command("go", "build", "-ldflags=-s -w", "-o", product, "./cmd/marquee")
	command.Dir, command.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
})

func built(t *testing.T) string {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	return product
}

// documentOf writes the document where others may read it.
func documentOf(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "openapi.json")
	write(t, file, run(t, ".", nil, built(t), "openapi"))
	return file
}

// serve runs the whole platform until the test ends and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	data, err := os.MkdirTemp("", "marquee-clients-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	if err := os.Chmod(data, 0o755); err != nil { // a root's Postgres runs as another account
		t.Fatal(err)
	}
	command := exec.Command(built(t), "dev", "--json", "--no-throttle", "--addr", "127.0.0.1:0",
		"--data-dir", filepath.Join(data, "data"))
	var logs bytes.Buffer
	command.Stderr = &logs
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
		defer late.Stop()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var ready struct{ URL string }
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err != nil {
		t.Fatalf("marquee dev: %v\n%s", err, logs.String())
	}
	return ready.URL
}

func run(t *testing.T, dir string, env []string, name string, arguments ...string) string {
	t.Helper()
	command := exec.Command(name, arguments...)
	var out, errors bytes.Buffer
	command.Dir, command.Env, command.Stdout, command.Stderr = dir, append(os.Environ(), env...), &out, &errors
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", filepath.Base(name), err, out.String(), errors.String())
	}
	return out.String()
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	write(t, to, read(t, from))
}
