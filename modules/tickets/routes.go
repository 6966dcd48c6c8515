package tickets

import (
	"net/http"

	"marquee/modules/tickets/checkout"
	"marquee/modules/tickets/events"
	"marquee/modules/tickets/orders"
	"marquee/modules/tickets/refunds"
	"marquee/platform/httpapi"
)

// Routes registers the module's operations.
func (s *Service) Routes(api *httpapi.API) {
	event, entrance, callerOrders := s.events.Handlers(), s.door.Handlers(), s.callerOrders.Handlers()
	refund, purchase := s.refunds.Handlers(), s.checkout.Handlers()
	httpapi.Route(api, http.MethodGet, "/events", "event_list", httpapi.SignedIn, event.ListEvents,
		events.Events.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/events", "event_create", httpapi.Admin, s.crud.Create(events.Events),
		events.Events.CreateDoc()...)
	httpapi.Route(api, http.MethodPut, "/events", "event_update", httpapi.Admin, event.UpdateEvents,
		append(events.Events.UpdateDoc(), httpapi.Info[*events.Warnings]())...)
	httpapi.Route(api, http.MethodDelete, "/events", "event_delete", httpapi.Admin, s.crud.Delete(events.Events),
		events.Events.DeleteDoc()...)
	httpapi.Route(api, http.MethodGet, "/events/{id}/checkin-bundle", "event_checkin_bundle", httpapi.Admin,
		entrance.CheckinBundle,
		httpapi.Summary("What a door device needs to check codes without network"))
	httpapi.Route(api, http.MethodPost, "/events/{id}/box-office-sales", "box_office_sale_create", httpapi.Admin,
		purchase.Sell, httpapi.Summary("Sell tickets at the counter"), httpapi.Idempotent(purchase.ReplaySale, nil))
	httpapi.Route(api, http.MethodGet, "/events/{id}/box-office-sales", "box_office_sale_list", httpapi.Admin,
		purchase.ListSales, httpapi.Summary("What the counter sold of an event, newest first"))
	httpapi.Route(api, http.MethodGet, "/events/{id}/box-office-sales/{order_id}", "box_office_sale_get", httpapi.Admin,
		purchase.GetSale, httpapi.Summary("A sale of the counter with its codes, to be printed again"))
	httpapi.Route(api, http.MethodPost, "/events/{id}/box-office-sales/{order_id}/refund", "box_office_sale_refund",
		httpapi.Admin, refund.HandBack, httpapi.Summary("Take tickets back at the counter, and hand back their money"),
		httpapi.Idempotent(refund.ReplayHandBack, nil))

	envelope := httpapi.ResponseSchema(events.Tickets.EnvelopeSchema())
	httpapi.Route(api, http.MethodGet, "/tickets", "ticket_list", httpapi.Admin, s.crud.List(events.Tickets.View),
		events.Tickets.ListDoc()...)
	httpapi.Route(api, http.MethodPost, "/tickets", "ticket_create", httpapi.Admin, event.CreateTicket,
		httpapi.Summary("Give a customer a ticket"), envelope)
	httpapi.Route(api, http.MethodPut, "/tickets", "ticket_update", httpapi.Admin, event.UpdateTickets,
		events.Tickets.UpdateDoc()...)
	httpapi.Route(api, http.MethodDelete, "/tickets", "ticket_delete", httpapi.Admin, s.crud.Delete(events.Tickets),
		events.Tickets.DeleteDoc()...)
	httpapi.Route(api, http.MethodPut, "/tickets/{ticket_id}/consume", "ticket_consume", httpapi.CustomerOrAdmin,
		entrance.ConsumeTicket, httpapi.Summary("Use a ticket"), envelope)
	httpapi.Route(api, http.MethodPost, "/tickets/{id}/readmit", "ticket_readmit", httpapi.Admin, entrance.Readmit,
		httpapi.Summary("Undo a scan: the ticket is good again"), envelope)
	httpapi.Route(api, http.MethodPost, "/tickets/consume-qr", "ticket_consume_qr", httpapi.Admin, entrance.ConsumeCode,
		httpapi.Summary("Use a ticket by its code"), envelope)
	httpapi.Route(api, http.MethodPost, "/tickets/consume-qr/batch", "ticket_consume_qr_batch", httpapi.Admin,
		entrance.ConsumeBatch, httpapi.Summary("Upload scans made without network"))

	httpapi.Route(api, http.MethodGet, "/me/tickets", "me_ticket_list", httpapi.Customer, event.ListCallerTickets,
		events.Tickets.ListDoc()...)
	httpapi.Route(api, http.MethodGet, "/me/tickets/{ticket_id}/qr", "me_ticket_qr", httpapi.Customer,
		entrance.TicketCode, httpapi.Summary("A ticket's code"))
	httpapi.Route(api, http.MethodGet, "/me/ticket-orders", "me_ticket_order_list", httpapi.Customer,
		callerOrders.ListOrders, httpapi.Summary("Own orders, newest first"))
	httpapi.Route(api, http.MethodGet, "/me/ticket-orders/{order_id}", "me_ticket_order_get", httpapi.Customer,
		callerOrders.GetOrder,
		httpapi.Summary("An order with its tickets"), httpapi.ResponseSchema(orders.OrderDetailSchema()))

	httpapi.Route(api, http.MethodPost, "/admin/ticket-orders/{id}/refund", "admin_ticket_order_refund", httpapi.Admin,
		refund.RefundOrder,
		httpapi.Summary("Give tickets of an order back"), httpapi.Idempotent(refund.ReplayOrderRefund, nil))
	httpapi.Route(api, http.MethodPost, "/admin/ticket-orders/{id}/cancel", "admin_ticket_order_cancel", httpapi.Admin,
		refund.CancelOrderNow,
		httpapi.Summary("Call an order off: what is pending is void, what is paid is given back"),
		httpapi.Idempotent(refund.ReplayOrderRefund, nil))

	httpapi.Route(api, http.MethodPost, "/admin/events/{id}/cancel", "admin_event_cancel", httpapi.Admin,
		refund.CancelEventNow,
		httpapi.Summary("Call an event off: its sale is closed, its tickets are blocked, its money goes back"),
		httpapi.Idempotent(refund.CancellationEnvelope, nil))
	httpapi.Route(api, http.MethodGet, "/admin/events/{id}/cancellation", "admin_event_cancellation", httpapi.Admin,
		refund.GetCancellation,
		httpapi.Summary("How far the money of a called off event has come back"))
	httpapi.Route(api, http.MethodPost, "/me/ticket-orders/{order_id}/withdraw", "me_ticket_order_withdraw",
		httpapi.Customer, refund.WithdrawOrder,
		httpapi.Summary("Give an order back"), httpapi.Idempotent(refund.ReplayWithdrawal, nil))
	httpapi.Route(api, http.MethodPost, orders.WithdrawalPath, "store_ticket_order_withdraw_post", httpapi.Public,
		refund.WithdrawByLink,
		httpapi.Summary("Give an order back by the link in its mail"), httpapi.PerMinute(refunds.LinksPerMinute))
	api.Mount(http.MethodGet, httpapi.Prefix+orders.WithdrawalPath, "store_ticket_order_withdraw_get", httpapi.Public,
		refund.WithdrawalPage)

	httpapi.Route(api, http.MethodGet, "/store/events", "store_event_list", httpapi.Public, event.ListStore,
		httpapi.Summary("Events on sale"))
	httpapi.Route(api, http.MethodGet, "/store/events/{event_id}", "store_event_get", httpapi.Public,
		event.GetStoreEvent, httpapi.Summary("An event on sale"))
	limit := httpapi.PerMinute(s.deps.Config.PerMinute)
	repeat, repeatGuest := httpapi.Idempotent(purchase.ReplayPurchase, nil),
		httpapi.Idempotent(purchase.ReplayCheckout, checkout.GuestOf)
	httpapi.Route(api, http.MethodPost, "/store/purchase/gwa/card", "store_purchase_gwa_card", httpapi.Customer,
		purchase.BuyCardA, limit, repeat)
	httpapi.Route(api, http.MethodPost, "/store/purchase/gwa/pix", "store_purchase_gwa_pix", httpapi.Customer,
		purchase.BuyPixA, limit, repeat)
	httpapi.Route(api, http.MethodPost, "/store/purchase/gwb/card", "store_purchase_gwb_card", httpapi.Customer,
		purchase.BuyCardB, limit, repeat)
	httpapi.Route(api, http.MethodPost, "/store/purchase/gwb/pix", "store_purchase_gwb_pix", httpapi.Customer,
		purchase.BuyPixB, limit, repeat)
	httpapi.Route(api, http.MethodPost, "/store/purchase/checkout/gwa/card", "store_checkout_gwa_card", httpapi.Public,
		purchase.CheckoutCardA, limit, repeatGuest)
	httpapi.Route(api, http.MethodPost, "/store/purchase/checkout/gwa/pix", "store_checkout_gwa_pix", httpapi.Public,
		purchase.CheckoutPixA, limit, repeatGuest)
	httpapi.Route(api, http.MethodPost, "/store/purchase/checkout/gwb/card", "store_checkout_gwb_card", httpapi.Public,
		purchase.CheckoutCardB, limit, repeatGuest)
	httpapi.Route(api, http.MethodPost, "/store/purchase/checkout/gwb/pix", "store_checkout_gwb_pix", httpapi.Public,
		purchase.CheckoutPixB, limit, repeatGuest)
}
