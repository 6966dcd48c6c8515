//go:build !faultpoints

package faultpoint

// Hit does nothing in this build.
func Hit(string) {}
