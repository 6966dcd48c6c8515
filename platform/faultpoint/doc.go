// Package faultpoint names the places at which the crash tests kill the process.
// It does nothing unless the binary was built with the tag faultpoints.
package faultpoint
