//go:build nosandbox

package app

import "context"

// Dev returns ErrNoSandbox.
func Dev(context.Context, DevOptions) error { return ErrNoSandbox }

// Sandbox returns ErrNoSandbox.
func Sandbox(context.Context, SandboxOptions) error { return ErrNoSandbox }
