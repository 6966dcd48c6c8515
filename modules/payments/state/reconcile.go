package state

// FindingKind says what a reconciliation found: the kinds are package reconcile's.
type FindingKind string

// Verdict says what became of a finding: the verdicts are package reconcile's.
type Verdict string

// Starter says what began a reconciliation: the starters are package reconcile's.
type Starter string
