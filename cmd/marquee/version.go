package main

import (
	"fmt"

	"marquee/cmd/internal/app"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run() error {
	fmt.Println("marquee", app.Version())
	return nil
}
