// Package modeltest holds no code of the platform, only its longest test: random
// sequences of what customers, admins, both gateways, the clock and a dying
// process may do to money, with everything that must hold afterwards.
//
// A history is a list of steps (step_test.go). It runs on the composed modules
// with a real Postgres and both sandbox gateways, whose clocks stand still but
// for the history's own steps: the same list always gives the same story.
// Gateways are called without a network, and webhooks are handed over by the
// history, so that it decides what is late, doubled, or lost, and when the
// process dies: at any commit, or at any answer of a gateway.
//
// A history that breaks something is shrunk and printed as Go; it is then put
// into regression_test.go. `make soak` runs 2,000. docs/testing.md says how to repeat one.
package modeltest
