// Package exports owns finance.exports and finance.export_chunks: figures, events and
// customers as files. A short one is sent as it is read; a job writes a long one into
// chunks, and a signed link fetches it until it expires.
//
// It does not own the figures that it writes: they are those of package reports and of the
// views of schema finance.
package exports
