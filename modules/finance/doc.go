// Package finance owns the figures: the views of schema finance, which the API,
// the exports and the analysts' roles read alike, the rollups behind them, the
// dashboards and the customer's whole picture.
//
// It does not own money, subscriptions, orders or customers: it reads the rows of
// all other modules through its views and changes none. It imports no module.
//
// Rooms, lower first: reports reads the figures and answers with them, exports writes them
// into files. The root keeps the rollups behind both, the invariants and the lists of routes
// and jobs.
//
// Words: a movement is the beginning (entry) or end (exit) of a customer's access;
// a ledger is a view with one row an event; a delta is what one transaction
// changed, not yet folded into a rollup; the scan is the same figure counted from
// the ledgers.
//
// Amounts are integer cents, instants UTC with milliseconds. Days and months are
// those of REPORT_TZ, which the database knows from finance.settings, so that
// psql and the API cut at the same instants. Expiry and age are judged as of
// finance.now(): the service's clock in what it reads, the transaction's start at
// psql. Formulas: docs/analysts.md.
package finance
