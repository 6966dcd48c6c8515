package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"marquee/cmd/internal/app"
	"marquee/platform/fault"
)

func configCommand() *cobra.Command {
	return group("config", "Look at the configuration.",
		leaf("check", "Print every variable with its source, value, default and error; secrets are not shown. "+
			"Fails when serve and work would not start with it.", checkConfig))
}

func checkConfig(context.Context) error {
	e := app.ReadEnvironment(os.Environ())
	if err := e.Print(os.Stdout); err != nil {
		return err
	}
	if n := e.Wrong(); n > 0 {
		return fmt.Errorf("%s would keep serve and work from starting", fault.Count(n, "variable"))
	}
	return nil
}
