package state

// Action is what may move a subscription: a trigger of the specification's
// table, with its condition where that decides the target.
type Action string

// The actions, in the order of the specification's table.
const (
	Subscribe              Action = "subscribe"               // any subscribe route: the intent's row
	Renew                  Action = "renew"                   // the new row of a renewal
	PaymentSettles         Action = "payment_settles"         // approved at once, PAYMENT_CONFIRMED, PAYMENT_RECEIVED, invoice.paid, payment_intent.succeeded
	RenewalTaken           Action = "renewal_taken"           // the gateway took the card of a renewal whose first charge lies ahead
	TrialStarts            Action = "trial_starts"            // the gateway took the card, the first charge lies ahead
	PaymentDeclined        Action = "payment_declined"        // of the first payment, told by the synchronous answer
	NothingAtGateway       Action = "nothing_at_gateway"      // the gateway certainly made nothing of the intent
	LiveReadDead           Action = "live_read_dead"          // GET status: incomplete without a way on, incomplete_expired, canceled
	Replaced               Action = "replaced"                // pending PIX over 24 h, pending gateway B card, old row of a renewal
	PixRunsOut             Action = "pix_runs_out"            // nobody paid the code in its time, payment_intent.payment_failed
	GatewaySaysActive      Action = "gateway_active"          // updated, created: active, trialing
	GatewaySaysOpenHeld    Action = "gateway_open_held"       // updated, created: active, trialing, incomplete, while a dispute or an admin keeps it suspended
	GatewaySaysSuspended   Action = "gateway_suspended"       // updated, created: past_due, unpaid, paused
	GatewaySaysIncomplete  Action = "gateway_incomplete"      // updated, created: incomplete
	GatewaySaysCancelled   Action = "gateway_cancelled"       // updated, created: canceled; deleted; gateway A deleted or inactivated without time left
	GatewaySaysExpired     Action = "gateway_expired"         // updated, created: incomplete_expired
	GoneAtGateway          Action = "gone_at_gateway"         // known there once, missing at two looks an hour apart
	GatewayDeletedPaid     Action = "gateway_deleted_paid"    // gateway A deleted or inactivated, expires_at ahead
	PaymentFails           Action = "payment_fails"           // a renewal's attempt, below the limit
	PaymentFailsTooOften   Action = "payment_fails_too_often" // the attempt that reaches the limit
	DisputeOpens           Action = "dispute_opens"           // charge.dispute.created, PAYMENT_CHARGEBACK_REQUESTED
	DisputeWon             Action = "dispute_won"
	ChargebackWithdrawn    Action = "chargeback_withdrawn"    // an admin entered it by mistake
	UnpaidWithdrawn        Action = "unpaid_withdrawn"        // the same, of a subscription that had not begun
	DisputeLost            Action = "dispute_lost"            // charge.dispute.closed (lost), PAYMENT_REFUNDED while it is open, a PIX that the payer's bank took back
	AuthorizationActivated Action = "authorization_activated" // automatic PIX
	AuthorizationCancelled Action = "authorization_cancelled" // automatic PIX cancelled or refused
	AuthorizationExpired   Action = "authorization_expired"   // automatic PIX
	LateMoney              Action = "late_money"              // a payment for a subscription that had ended
	PeriodEnds             Action = "period_ends"             // expires_at reached
	CustomerCancels        Action = "customer_cancels"
	CustomerWithdraws      Action = "customer_withdraws" // within the days of regret, with all money back; what has ended stays so
	AdminCancels           Action = "admin_cancels"
	AdminActivates         Action = "admin_activates"
	AdminSuspends          Action = "admin_suspends" // PUT status, POST …/chargeback opens a dispute instead
	AdminExpires           Action = "admin_expires"
)
