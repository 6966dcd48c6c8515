package orders

import (
	"marquee/modules/tickets/internal/ticketsdb"
)

// Order is a row as the database holds it.
type Order = ticketsdb.Order
