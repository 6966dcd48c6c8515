package tracing

import "time"

// Pauses makes the pauses between the tries of a delivery so long.
func (t *Tracer) Pauses(d time.Duration) { t.collector.pause = d }

// Queued and Batched bound what waits for the collector.
const (
	Queued  = queued
	Batched = batched
)

// For tests of their own.
var (
	TemplateOf = templateOf
	QueryName  = queryName
	WithParent = withParent
)
