package gwa

func (g *Gateway) postAuthorization(r request) (v authorizationView, err *apiError) {
	var in authorizationInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	a, err := g.createAuthorization(in, r.now)
	if err != nil {
		return v, err
	}
	return g.authorizationView(a)
}

func (g *Gateway) getAuthorization(r request) (v authorizationView, err *apiError) {
	a, ok := g.Authorizations.Find(r.id())
	if !ok {
		return v, notFound()
	}
	return g.authorizationView(a)
}

func (g *Gateway) deleteAuthorization(r request) (v authorizationView, err *apiError) {
	a, err := g.endAuthorization(r.id(), statusCancelled, "CANCELLED_BY_MERCHANT", r.now, statusCreated, statusActive)
	if err != nil {
		return v, err
	}
	return g.authorizationView(a)
}

// listAuthorizations lists without payload and image.
func (g *Gateway) listAuthorizations(r request) (listView[authorizationView], *apiError) {
	q := r.URL.Query()
	all := g.Authorizations.Newest(func(a *Authorization) bool {
		return match(q, "status", a.Status) && match(q, "customerId", a.Customer)
	})
	return page(q, all, func(a *Authorization) authorizationView {
		return a.view(isoText, isoTime)
	})
}

func isoText(d day) string { return string(d) }

func (g *Gateway) getInstruction(r request) (v instructionView, err *apiError) {
	i, ok := g.Instructions.Find(r.id())
	if !ok {
		return v, notFound()
	}
	return i.view(isoText), nil
}

func (g *Gateway) listInstructions(r request) (listView[instructionView], *apiError) {
	q := r.URL.Query()
	all := g.Instructions.Newest(func(i *Instruction) bool {
		return match(q, "status", i.Status) && match(q, "paymentId", i.Payment) &&
			match(q, "authorizationId", i.Authorization)
	})
	return page(q, all, func(i *Instruction) instructionView { return i.view(isoText) })
}

func (g *Gateway) postInstructionRetry(r request) (v instructionView, err *apiError) {
	var in struct {
		DueDate string `json:"dueDate"`
	}
	if err := r.decode(&in); err != nil {
		return v, err
	}
	i, err := g.retryInstruction(r.id(), in.DueDate, r.now)
	if err != nil {
		return v, err
	}
	return i.view(isoText), nil
}
