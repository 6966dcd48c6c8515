package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"marquee/cmd/internal/app"
	"marquee/migrations/schema"
)

type versionCommand struct {
	JSON bool `name:"json" help:"Version, commit and its time, Go, and the newest migration, as JSON."`
}

// build is what --json prints. The time is the commit's (UTC, RFC 3339), so that equal sources give equal binaries;
// what a build without git does not know is empty.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"` // the tree had changes that were not committed
	Time     string `json:"time"`
	Go       string `json:"go"`
	Schema   int64  `json:"schema"`
}

// Run prints the version.
func (c versionCommand) Run() error {
	if !c.JSON {
		fmt.Println("marquee", app.Version())
		return nil
	}
	b := build{Version: app.Version(), Schema: schema.Newest()}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version, b.Go = info.Main.Version, info.GoVersion
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			case "vcs.time":
				b.Time = s.Value
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(b)
}
