package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestMaterialsFitTheirSchema: a bill of Go modules and npm packages is CycloneDX 1.6, and names what is shipped.
func TestMaterialsFitTheirSchema(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "marquee", Version: "v0.0.0-20261124021708-a6c6f4b7abcd+dirty"},
		Deps: []*debug.Module{
			{Path: "a.example/b", Version: "v1.2.3", Sum: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
			{Path: "a.example/old", Version: "v1.0.0", Replace: &debug.Module{Path: "a.example/new", Version: "v2.0.0"}},
		},
	}
	lock := `{"lockfileVersion": 3, "packages": {
		"": {"name": "web", "version": "1.0.0"},
		"node_modules/@a/shipped": {"version": "1.0.0", "license": "MIT", "integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="},
		"node_modules/@a/shipped/node_modules/inner": {"version": "2.0.0"},
		"node_modules/tester": {"version": "3.0.0", "dev": true}}}`
	text, err := billOfMaterials(info, [][]byte{[]byte(lock)}, time.Unix(0, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	schema := cycloneDX(t)
	if err := fits(schema, text); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, want := range []string{
		`"specVersion": "1.6"`, `pkg:golang/std@1.26.8"`, `"pkg:golang/a.example/b@v1.2.3"`, `"pkg:golang/a.example/new@v2.0.0"`,
		`"pkg:npm/%40a/shipped@1.0.0"`, `"pkg:npm/inner@2.0.0"`, `a6c6f4b7abcd%2Bdirty"`, "e3b0c44298fc1c149afbf4c8996fb924",
		"cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce",
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	for _, not := range []string{"tester", "a.example/old"} {
		if bytes.Contains(text, []byte(not)) {
			t.Errorf("%s is not shipped", not)
		}
	}
	for from, to := range map[string]string{`"library"`: `"book"`, `"SHA-256"`: `"SHA-255"`, `"version"`: `"versoin"`} {
		if fits(schema, bytes.ReplaceAll(text, []byte(from), []byte(to))) == nil {
			t.Errorf("%s for %s fits as well: the schema is not asked", to, from)
		}
	}
}

// cycloneDX is the schema of version 1.6, which the Go module of the format carries.
func cycloneDX(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = compiler.AddResource("http://cyclonedx.org/schema/"+name, document)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return compiler.MustCompile("http://cyclonedx.org/schema/bom-1.6.schema.json")
}

func fits(schema *jsonschema.Schema, text []byte) error {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(document)
}

// TestAReleaseTwiceIsEqualOps: of one commit, in two places, the second built from nothing, each file has the same bytes; the
// binary says what it is, and its bill fits the schema.
func TestAReleaseTwiceIsEqualOps(t *testing.T) {
	if os.Getenv("OPS") == "" {
		t.Skip("builds the release twice: make test-ops")
	}
	dir := t.TempDir()
	var made []map[string]string
	for i, env := range [][]string{nil, {"GOCACHE=" + filepath.Join(dir, "cache")}} {
		out := filepath.Join(dir, fmt.Sprint("out", i))
		if err := release("../..", out, env...); err != nil {
			t.Fatal(err)
		}
		made = append(made, filesOf(t, out))
	}
	for name, content := range made[0] {
		if made[1][name] != content {
			t.Errorf("%s differs", name)
		}
	}
	if len(made[0]) != len(made[1]) || len(made[0]) < 10 {
		t.Errorf("%d files, then %d", len(made[0]), len(made[1]))
	}
	frontEnds := 0
	for _, content := range filesOf(t, "../../web/dist") {
		frontEnds += len(content)
	}
	if size := len(made[0]["linux-amd64/marquee"]) - frontEnds; size < 20<<20 || size > 42<<20 {
		t.Errorf("a binary of %d bytes without the front ends", size)
	}
	if err := fits(cycloneDX(t), []byte(made[0]["linux-arm64/marquee.cdx.json"])); err != nil {
		t.Error(err)
	}
	out, err := exec.Command(filepath.Join(dir, "out0", "linux-amd64", "marquee"), "version", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var version struct{ Version, Commit, Time string }
	if err := json.Unmarshal(out, &version); err != nil || strings.Contains(version.Version, "dirty") ||
		len(version.Commit) != 40 || version.Time == "" {
		t.Errorf("%v: %s", err, out)
	}
}

// filesOf are the contents of a folder's files by their names.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, tree := map[string]string{}, os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
