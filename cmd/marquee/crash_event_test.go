package main_test

import (
	"net/http"

	"github.com/stretchr/testify/require"
)

// killedCallingOff: an event of three orders is called off. Whoever dies, after the commit
// or in the midst of the refunds, each order is refunded once by those who come after.
func killedCallingOff(o *outside, step string) {
	o.exec(`INSERT INTO tickets.events (id, title, event_date, location, capacity, ticket_value_cents, is_sale_box_office)
		VALUES ($1, 'Premiere', now() + interval '1 month', 'Cine Ipiranga', 6, 12050, true)`, premiere)
	p := o.serve(step)
	token := o.login()
	for range 3 {
		expect(o.t, 200, http.MethodPost, o.api("/store/purchase/gwb/card"), token, map[string]any{
			"event_id": premiere, "quantity": 2, "payment_method_id": "pm_card_visa",
		})
	}
	root, path, body := o.loginAs("root"), "/admin/events/"+premiere+"/cancel", map[string]any{
		"reason": "It burned down", "refund": "all",
	}
	if step == "event_cancel.committed" {
		o.dies(p, http.MethodPost, path, root, body)
	} else {
		expect(o.t, 200, http.MethodPost, o.api(path), root, body)
		<-o.start("work", step).exited
	}
	require.Equal(o.t, 3, o.count(`SELECT count(*) FROM tickets.give_backs WHERE asked_at IS NOT NULL`))
	o.serve("")
	o.start("work", "")
	eventually(o.t, "the orders were not refunded", func() bool {
		o.runStatusChecksAt("gwb")
		o.periodic("tickets_sweep")
		return o.count(`SELECT count(*) FROM tickets.orders WHERE state = 'refunded'`) == 3
	})
	require.Len(o.t, o.listed(o.sandbox.GWBURL()+"/v1/refunds"), 3)
	require.Equal(o.t, 3, o.count(`SELECT count(*) FROM payments.refunds`))
}
