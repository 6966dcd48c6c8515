package main

import (
	"context"
)

type cost struct{}

func benchCosts(context.Context, *bench) error { return nil }
