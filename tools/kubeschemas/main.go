// Command kubeschemas writes the schemas by which kubeconform checks deploy/kubernetes: those of the kinds that stand
// there, as the API of the Go module k8s.io/kubernetes (some 40 MB, fetched when it is not there) describes them,
// without its words, and closed to fields that it does not know.
//
//	go -C tools run ./kubeschemas [-version v1.37.2]
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// The manifests and their schemas, seen from tools.
const (
	manifests = "../deploy/kubernetes"
	schemas   = manifests + "/schemas"
)

func main() {
	version := flag.String("version", "v1.37.2", "of k8s.io/kubernetes")
	flag.Parse()
	if err := run(*version); err != nil {
		fmt.Fprintln(os.Stderr, "kubeschemas:", err)
		os.Exit(1)
	}
}

type object = map[string]any

func run(version string) error {
	all, err := described(version)
	if err != nil {
		return err
	}
	kinds, err := kindsOf(manifests)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(schemas); err != nil {
		return err
	}
	if err := os.MkdirAll(schemas, 0o755); err != nil {
		return err
	}
	wanted := object{}
	for name, definition := range all {
		file := fileOf(definition)
		if !kinds[file] {
			continue
		}
		delete(kinds, file)
		reach(name, all, wanted)
		if err := write(file+".json", object{"$ref": "definitions.json#/definitions/" + name}); err != nil {
			return err
		}
	}
	if len(kinds) > 0 {
		return fmt.Errorf("k8s.io/kubernetes %s does not know %v", version, kinds)
	}
	return write("definitions.json", object{"$comment": "k8s.io/kubernetes " + version, "definitions": wanted})
}

// described are the definitions of the API, by their names.
func described(version string) (map[string]object, error) {
	command := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes@"+version)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("fetch k8s.io/kubernetes: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(module.Dir, "api", "openapi-spec", "swagger.json"))
	if err != nil {
		return nil, err
	}
	var api struct{ Definitions map[string]object }
	return api.Definitions, json.Unmarshal(text, &api)
}

var (
	kindLine    = regexp.MustCompile(`(?m)^kind: (\w+)$`)
	versionLine = regexp.MustCompile(`(?m)^apiVersion: (?:([\w.]+)/)?(\w+)$`)
)

// kindsOf are the names under which kubeconform looks for the kinds of a folder, without ".json".
func kindsOf(dir string) (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	kinds := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, versions := kindLine.FindAllSubmatch(text, -1), versionLine.FindAllSubmatch(text, -1)
		if len(found) != len(versions) {
			return nil, errors.New(file + ": apiVersion and kind stand at the beginning of a line each")
		}
		for i, kind := range found {
			kinds[fileName(string(kind[1]), string(versions[i][1]), string(versions[i][2]))] = true
		}
	}
	return kinds, nil
}

// fileOf is the same of a definition; empty for one that is no kind.
func fileOf(definition object) string {
	of, _ := definition["x-kubernetes-group-version-kind"].([]any)
	if len(of) != 1 {
		return "" // more are options of many kinds
	}
	kind := of[0].(map[string]any)
	return fileName(kind["kind"].(string), kind["group"].(string), kind["version"].(string))
}

func fileName(kind, group, version string) string {
	group, _, _ = strings.Cut(group, ".")
	name := kind + "-" + version
	if group != "" {
		name = kind + "-" + group + "-" + version
	}
	return strings.ToLower(name)
}

// reach adds a definition to those that are wanted, and all that it names.
func reach(name string, all map[string]object, wanted object) {
	if wanted[name] != nil {
		return
	}
	switch name {
	case "io.k8s.apimachinery.pkg.util.intstr.IntOrString":
		wanted[name] = object{"type": []string{"string", "integer"}}
	case "io.k8s.apimachinery.pkg.api.resource.Quantity":
		wanted[name] = object{"type": []string{"string", "number"}}
	default:
		definition := all[name]
		wanted[name] = definition
		tidy(definition, func(other string) { reach(other, all, wanted) })
	}
}

// tidy takes words and what only servers read out of a schema, closes it, and tells whom it names.
func tidy(schema object, names func(string)) {
	for key, value := range schema {
		switch {
		case key == "description" || key == "default" || strings.HasPrefix(key, "x-kubernetes-"):
			delete(schema, key)
		case key == "$ref":
			names(strings.TrimPrefix(value.(string), "#/definitions/"))
		case key == "properties":
			for _, property := range value.(map[string]any) {
				tidy(property.(map[string]any), names)
			}
			schema["additionalProperties"] = false
		default:
			if nested, ok := value.(map[string]any); ok { // items, additionalProperties
				tidy(nested, names)
			}
		}
	}
}

func write(name string, content object) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(schemas, name), append(text, '\n'), 0o644)
}
