package app

import (
	"errors"
	"io"
)

// DevOptions are the flags of `marquee dev`.
type DevOptions struct {
	Addr       string // loopback; port 0 takes a free one
	DataDir    string // empty: localpg.DefaultDataDir
	JSON       bool   // one line of JSON on Out instead of the greeting
	NoThrottle bool
	Films      string // directory of further films; "": the sample film alone
	Out, Err   io.Writer
}

// SandboxOptions are the flags of `marquee sandbox`.
type SandboxOptions struct {
	GWAAddr, GWBAddr       string // loopback; port 0 takes a free one
	GWAWebhook, GWBWebhook string // where events go; empty: they wait
	DataDir                string // empty: memory alone
	JSON                   bool   // one line of JSON on Out instead of the greeting
	Out, Err               io.Writer
}

// ErrNoSandbox is the error of Dev and Sandbox in a binary that was built for production.
var ErrNoSandbox = errors.New("this binary is built for production (-tags nosandbox): it holds neither the sandbox gateways nor the private Postgres that dev and sandbox run")
