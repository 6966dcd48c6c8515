package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
	"marquee/migrations/schema"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	c := leaf("version", "Print the version.", func(context.Context) error { return printVersion(asJSON) })
	c.Flags().BoolVar(&asJSON, "json", false, "Version, commit and its time, Go, and the newest migration, as JSON.")
	return c
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

func printVersion(asJSON bool) error {
	if !asJSON {
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
