package state

// Edit is what changes a subscription and leaves its state alone.
type Edit string

// The edits.
const (
	Authorized         Edit = "authorized"          // automatic PIX, while a dispute keeps it closed
	ChargeMoved        Edit = "charge_moved"        // the gateway charges next when the extension ends, or never
	CollectionResumed  Edit = "collection_resumed"  // the gateway collects again
	Corrected          Edit = "corrected"           // an admin set what stands in our row
	CycleSkipped       Edit = "cycle_skipped"       // a debit was deleted
	DisputeLeft        Edit = "dispute_left"        // a dispute is over, and something else keeps it closed
	EndConfirmed       Edit = "end_confirmed"       // nothing of it runs at the gateway any more
	EndedThere         Edit = "ended_there"         // the gateway has ended the recurrence, and paid time is left
	EndLifted          Edit = "end_lifted"          // the recurrence goes on after an extension
	EndsWithPeriod     Edit = "ends_with_period"    // it is to end with its paid time
	Extended           Edit = "extended"            // an admin gave time
	ExtensionRefused   Edit = "extension_refused"   // the gateway does not charge later: the dates go back
	FirstMonthAlone    Edit = "first_month_alone"   // one period was charged, and no recurrence made
	GoesOn             Edit = "goes_on"             // it does not end with its paid time after all
	Learned            Edit = "learned"             // what the first call has made
	LookAsked          Edit = "look_asked"          // the gateway is to be read
	MadeNothing        Edit = "made_nothing"        // the first call made nothing, and something else has moved the row
	PaidWhileDisputed  Edit = "paid_while_disputed" // a dispute keeps it closed
	PeriodEndRead      Edit = "period_end_read"     // whether it ends with its period was read at the gateway
	PeriodEndTold      Edit = "period_end_told"     // the gateway was told whether it does
	PlanMoved          Edit = "plan_moved"          // the gateway has the price
	RecurrenceAdopted  Edit = "recurrence_adopted"  // an event told its id first
	RecurrenceFollowed Edit = "recurrence_followed" // the gateway tells of it what moves nothing
	RecurrenceRead     Edit = "recurrence_read"     // the gateway was read
	RefundsTotalled    Edit = "refunds_totalled"
)

// edits are all edits, and what each may write.
var edits = []struct {
	as     Edit
	writes Columns
}{
	{Authorized, of(call, authorization, next, event)},
	{ChargeMoved, of(remote, deleted)},
	{CollectionResumed, remote},
	{Corrected, of(price, dates)},
	{CycleSkipped, next},
	{DisputeLeft, disputed},
	{EndConfirmed, confirmed},
	{EndedThere, deleted},
	{EndLifted, expires},
	{EndsWithPeriod, of(periodEnd, dates)},
	{Extended, dates},
	{ExtensionRefused, dates},
	{FirstMonthAlone, dates},
	{GoesOn, of(periodEnd, expires)},
	{Learned, of(call, remote, authorization, payment)},
	{LookAsked, look},
	{MadeNothing, of(call, dates)},
	{PaidWhileDisputed, paid},
	{PeriodEndRead, of(periodEnd, expires, look)},
	{PeriodEndTold, of(told, look)},
	{PlanMoved, of(price, priceID)},
	{RecurrenceAdopted, recurrence},
	{RecurrenceFollowed, follows},
	{RecurrenceRead, remote},
	{RefundsTotalled, refunds},
}

var (
	// Edits are all edits.
	Edits = func() (all []Edit) {
		for _, e := range edits {
			all = append(all, e.as)
		}
		return all
	}()

	byEdit = func() map[Edit]Columns {
		m := map[Edit]Columns{}
		for _, e := range edits {
			m[e.as] = e.writes
		}
		return m
	}()
)

// EditedBy are the columns that an edit may write.
func EditedBy(as Edit) Columns { return byEdit[as] }
