// Package reports reads the figures, as of one instant and in the report time zone: the
// finance dashboard, the dashboards of events and subscriptions, and a customer's whole
// picture, each beside the route that it answers.
//
// It does not own a figure: what one means stands in the views of schema finance, which
// analysts read too. It writes nothing; the files are those of package exports.
package reports
