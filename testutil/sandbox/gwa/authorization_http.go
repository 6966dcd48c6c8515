package gwa

import "marquee/testutil/sandbox/gwa/account"

func postAuthorization(r request) (v account.AuthorizationView, err *account.APIError) {
	var in account.AuthorizationInput
	if err := r.decode(&in); err != nil {
		return v, err
	}
	a, err := r.g.debits.CreateAuthorization(in, r.now)
	if err != nil {
		return v, err
	}
	return r.g.debits.AuthorizationView(a)
}

func getAuthorization(r request) (v account.AuthorizationView, err *account.APIError) {
	a, ok := r.g.ledger.Authorizations.Find(r.id())
	if !ok {
		return v, account.NotFound()
	}
	return r.g.debits.AuthorizationView(a)
}

func deleteAuthorization(r request) (v account.AuthorizationView, err *account.APIError) {
	a, err := r.g.debits.EndAuthorization(r.id(), account.StatusCancelled, "CANCELLED_BY_MERCHANT", r.now,
		account.StatusCreated, account.StatusActive)
	if err != nil {
		return v, err
	}
	return r.g.debits.AuthorizationView(a)
}

// listAuthorizations lists without payload and image.
func listAuthorizations(r request) (listView[account.AuthorizationView], *account.APIError) {
	q := r.URL.Query()
	all := r.g.ledger.Authorizations.Newest(func(a *account.Authorization) bool {
		return match(q, "status", a.Status) && match(q, "customerId", a.Customer)
	})
	return page(q, all, func(a *account.Authorization) account.AuthorizationView {
		return a.View(account.ISOText, account.ISOTime)
	})
}

func getInstruction(r request) (v account.InstructionView, err *account.APIError) {
	i, ok := r.g.ledger.Instructions.Find(r.id())
	if !ok {
		return v, account.NotFound()
	}
	return i.View(account.ISOText), nil
}

func listInstructions(r request) (listView[account.InstructionView], *account.APIError) {
	q := r.URL.Query()
	all := r.g.ledger.Instructions.Newest(func(i *account.Instruction) bool {
		return match(q, "status", i.Status) && match(q, "paymentId", i.Payment) &&
			match(q, "authorizationId", i.Authorization)
	})
	return page(q, all, func(i *account.Instruction) account.InstructionView { return i.View(account.ISOText) })
}

func postInstructionRetry(r request) (v account.InstructionView, err *account.APIError) {
	var in struct {
		DueDate string `json:"dueDate"`
	}
	if err := r.decode(&in); err != nil {
		return v, err
	}
	i, err := r.g.debits.RetryInstruction(r.id(), in.DueDate, r.now)
	if err != nil {
		return v, err
	}
	return i.View(account.ISOText), nil
}
