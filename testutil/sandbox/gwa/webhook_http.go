package gwa

// writeWebhook prints a webhook unless there was an error.
func (g *Gateway) writeWebhook(w *Webhook, err *apiError) (v webhookView, _ *apiError) {
	if err != nil {
		return v, err
	}
	return g.webhookView(w), nil
}

func (g *Gateway) postWebhook(r request) (v webhookView, err *apiError) {
	var in webhookInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	return g.writeWebhook(g.createWebhook(in))
}

func (g *Gateway) getWebhook(r request) (v webhookView, err *apiError) {
	w, ok := g.Webhooks.Find(r.id())
	if !ok {
		return v, notFound()
	}
	return g.webhookView(w), nil
}

func (g *Gateway) putWebhook(r request) (v webhookView, err *apiError) {
	var in webhookInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	return g.writeWebhook(g.updateWebhook(r.id(), in))
}

func (g *Gateway) deleteWebhook(r request) (v deletedView, err *apiError) {
	w, ok := g.Webhooks.Find(r.id())
	if !ok {
		return v, notFound()
	}
	g.Webhooks.Remove(w.ID)
	g.applyWebhook()
	return deletedView{true, w.ID}, nil
}

func (g *Gateway) listWebhooks(r request) (listView[webhookView], *apiError) {
	all := g.Webhooks.Newest(func(*Webhook) bool { return true })
	return page(r.URL.Query(), all, g.webhookView)
}

// postRemoveBackoff ends a pause and lets waiting events go at once.
func (g *Gateway) postRemoveBackoff(r request) (v webhookView, err *apiError) {
	w, ok := g.Webhooks.Find(r.id())
	if !ok {
		return v, notFound()
	}
	g.stage.Webhooks.RemoveBackoff()
	return g.webhookView(w), nil
}
