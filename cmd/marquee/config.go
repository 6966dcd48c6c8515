package main

import (
	"fmt"
	"os"

	"marquee/cmd/internal/app"
	"marquee/platform/fault"
)

type configCommand struct {
	Check configCheckCommand `cmd:"" help:"Print every variable with its source, value, default and error; secrets are not shown. Fails when serve and work would not start with it."`
}

type configCheckCommand struct{}

// Run prints all of it, and fails when something is wrong.
func (configCheckCommand) Run() error {
	e := app.ReadEnvironment(os.Environ())
	if err := e.Print(os.Stdout); err != nil {
		return err
	}
	if n := e.Wrong(); n > 0 {
		return fmt.Errorf("%s would keep serve and work from starting", fault.Count(n, "variable"))
	}
	return nil
}
