package gwa

import "marquee/testutil/sandbox/gwa/account"

func postWebhook(r request) (v account.WebhookView, err *account.APIError) {
	var in account.WebhookInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	return r.g.ledger.WriteWebhook(r.g.ledger.CreateWebhook(in))
}

func getWebhook(r request) (v account.WebhookView, err *account.APIError) {
	w, ok := r.g.ledger.Webhooks.Find(r.id())
	if !ok {
		return v, account.NotFound()
	}
	return r.g.ledger.WebhookView(w), nil
}

func putWebhook(r request) (v account.WebhookView, err *account.APIError) {
	var in account.WebhookInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	return r.g.ledger.WriteWebhook(r.g.ledger.UpdateWebhook(r.id(), in))
}

func deleteWebhook(r request) (v deletedView, err *account.APIError) {
	w, ok := r.g.ledger.Webhooks.Find(r.id())
	if !ok {
		return v, account.NotFound()
	}
	r.g.ledger.Webhooks.Remove(w.ID)
	r.g.ledger.ApplyWebhook()
	return deletedView{true, w.ID}, nil
}

func listWebhooks(r request) (listView[account.WebhookView], *account.APIError) {
	all := r.g.ledger.Webhooks.Newest(func(*account.Webhook) bool { return true })
	return page(r.URL.Query(), all, r.g.ledger.WebhookView)
}

// postRemoveBackoff ends a pause and lets waiting events go at once.
func postRemoveBackoff(r request) (v account.WebhookView, err *account.APIError) {
	w, ok := r.g.ledger.Webhooks.Find(r.id())
	if !ok {
		return v, account.NotFound()
	}
	r.g.stage.Webhooks.RemoveBackoff()
	return r.g.ledger.WebhookView(w), nil
}
