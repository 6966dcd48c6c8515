package orders

import "marquee/modules/payments/gateway"

// How an order of the box office is paid, and handed back.
const (
	MethodCash        gateway.Method = "cash"
	MethodCardMachine gateway.Method = "card_machine"
	MethodCourtesy    gateway.Method = "courtesy" // nothing is paid, and the note says why
)

// OfBoxOffice reports whether staff sold the order at the counter: it is paid from the start, no gateway knows of it,
// and what is given back of it is handed back by them.
func (o Order) OfBoxOffice() bool { return o.SoldByID != nil }
