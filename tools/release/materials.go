package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials says in CycloneDX 1.6 what a binary was made of: Go's library and the modules that are linked into
// it, as `go version -m` shows them, and the npm packages of lock files that do not serve development alone.
func billOfMaterials(info *debug.BuildInfo, locks [][]byte, at time.Time) ([]byte, error) {
	product := module(info.Main)
	product.Type = cdx.ComponentTypeApplication
	parts := []cdx.Component{module(debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		parts = append(parts, module(*dep))
	}
	for _, lock := range locks {
		packages, err := npmPackages(lock)
		if err != nil {
			return nil, err
		}
		parts = append(parts, packages...)
	}
	slices.SortFunc(parts, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	parts = slices.CompactFunc(parts, func(a, b cdx.Component) bool { return a.BOMRef == b.BOMRef })
	var refs []string
	for _, part := range parts {
		refs = append(refs, part.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: at.Format(time.RFC3339), Component: &product}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: product.BOMRef, Dependencies: &refs}}
	var text bytes.Buffer
	err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return text.Bytes(), err
}

func module(m debug.Module) cdx.Component {
	c := component("golang", m.Path, m.Version)
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c
}

func component(kind, name, version string) cdx.Component {
	purl := "pkg:" + kind + "/" + strings.ReplaceAll(name, "@", "%40") + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{
		Type: cdx.ComponentTypeLibrary, BOMRef: purl, PackageURL: purl, Name: name, Version: version,
	}
}

// npmPackages reads a package-lock.json of version 2 or 3.
func npmPackages(lock []byte) (parts []cdx.Component, err error) {
	var file struct {
		Packages map[string]struct {
			Version, Integrity, License string
			Dev, Link                   bool
		}
	}
	if err := json.Unmarshal(lock, &file); err != nil {
		return nil, fmt.Errorf("package-lock.json: %w", err)
	}
	for path, p := range file.Packages {
		at := strings.LastIndex(path, "node_modules/")
		if at < 0 || p.Dev || p.Link {
			continue // the project itself, and what is not shipped
		}
		c := component("npm", path[at+len("node_modules/"):], p.Version)
		if text, ok := strings.CutPrefix(p.Integrity, "sha512-"); ok {
			sum, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, fmt.Errorf("package-lock.json: %s: %w", path, err)
			}
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA512, Value: hex.EncodeToString(sum)}}
		}
		if p.License != "" {
			c.Licenses = &cdx.Licenses{{Expression: p.License}}
		}
		parts = append(parts, c)
	}
	return parts, nil
}
