package state

// Source says what brought a move about, in the history.
type Source string

// The sources.
const (
	BySubscribe Source = "subscribe"
	ByWebhook   Source = "webhook"
	ByRecovery  Source = "recovery"
	ByLiveRead  Source = "live_read"
	ByJob       Source = "job"
	ByCustomer  Source = "customer"
	ByAdmin     Source = "admin"
	ByReconcile Source = "reconciliation"
)

// TellsOutcome reports whether the gateway is behind a move. Where a person or the
// clock ends a subscription whose call has not been answered, somebody still has
// to find out what is to be ended at the gateway.
func (s Source) TellsOutcome() bool {
	return s != ByAdmin && s != ByCustomer && s != ByJob
}
