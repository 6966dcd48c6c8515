package account

import "time"

// Statuses of refunds (docs/gateway-facts.md, A7).
const (
	refundPending   = "PENDING"
	refundDone      = "DONE"
	refundCancelled = "CANCELLED"
)

// Refund is one refund of a payment. The gateway gives it no id: events repeat all refunds of the payment.
type Refund struct {
	DateCreated        string  `json:"dateCreated"`
	Status             string  `json:"status"`
	Value              Cents   `json:"value"`
	EndToEndIdentifier *string `json:"endToEndIdentifier"`
	Description        *string `json:"description"`
	EffectiveDate      *string `json:"effectiveDate"`
	ReceiptURL         string  `json:"transactionReceiptUrl"`
	RefundedSplits     []null  `json:"refundedSplits"`
}

// RefundInput is the body of a refund.
type RefundInput struct {
	Value       *Cents `json:"value"`
	Description string `json:"description"`
}

// refunded is the sum of refunds that are done or still under way.
func (p *Payment) refunded() Cents {
	var sum Cents
	for _, r := range p.Refunds {
		if r.Status != refundCancelled {
			sum += r.Value
		}
	}
	return sum
}

// Refund gives back the whole rest without a value, else that part. Cards may be refunded from CONFIRMED, all else
// from RECEIVED.
func (l Payments) Refund(id string, in RefundInput, now time.Time) (*Payment, *APIError) {
	p, err := l.livePayment(id)
	if err != nil {
		return nil, err
	}
	if p.Status != statusReceived && (p.BillingType != billingCard || p.Status != statusConfirmed) {
		return nil, errAction("Somente é possível estornar cobranças recebidas ou confirmadas.")
	}
	value := p.Value - p.refunded()
	if in.Value != nil {
		if *in.Value <= 0 || *in.Value > value {
			return nil, BadRequest("invalid_value",
				"O valor do estorno deve ser maior que zero e não pode ser maior que o valor disponível para estorno.")
		}
		value = *in.Value
	}
	if p.Status == statusReceived {
		if l.Settings.RefundsNeedBalance && value > l.Balance {
			return nil, errAction("Saldo insuficiente para realizar a operação.")
		}
		l.Balance -= value
	}
	p.Refunds = append(p.Refunds, l.newRefund(p, value, in.Description, now))
	if l.Settings.RefundsInProgress {
		p.Before, p.Status = p.Status, statusRefundInProgress
		l.emitPayment(now, "PAYMENT_REFUND_IN_PROGRESS", p)
		return p, nil
	}
	l.finishRefund(p, now)
	return p, nil
}

// TakeBack is a PIX that the payer's bank takes back without the account's doing, as the special return mechanism
// (MED) does: the whole rest without a value. The page names no event for it, and neither do the vendor's lists of
// events; it is told as any other refund (unverified), at once, whatever the balance.
func (l Payments) TakeBack(id string, value Cents, now time.Time) (*Payment, *APIError) {
	p, err := l.livePayment(id)
	if err != nil {
		return nil, err
	}
	rest := p.Value - p.refunded()
	if value == 0 {
		value = rest
	}
	if p.Status != statusReceived || p.BillingType != billingPIX || value < 0 || value > rest {
		return nil, errAction("only a PIX that was received is taken back, and no more than is left of it")
	}
	l.Balance -= value
	p.Refunds = append(p.Refunds, l.newRefund(p, value, "", now))
	l.finishRefund(p, now)
	return p, nil
}

func (l Payments) newRefund(p *Payment, value Cents, description string, now time.Time) Refund {
	l.receipt(p)
	return Refund{
		DateCreated: ISOTime(now), Status: refundPending, Value: value, Description: orNull(description),
		ReceiptURL: p.Receipt, RefundedSplits: []null{},
	}
}

// finishRefund makes the last refund done and tells it: REFUNDED when nothing is left of the value, else the payment
// keeps its status.
func (l Payments) finishRefund(p *Payment, now time.Time) {
	last := &p.Refunds[len(p.Refunds)-1]
	last.Status = refundDone
	if p.BillingType != billingCard {
		endToEnd, effective := refundEndToEnd(now), ISOTime(now.Add(3*time.Second))
		last.EndToEndIdentifier, last.EffectiveDate = &endToEnd, &effective
		p.PixTransaction = ""
	}
	if p.refunded() == p.Value {
		p.Status = statusRefunded
		l.emitPayment(now, "PAYMENT_REFUNDED", p)
		return
	}
	if p.Before != "" {
		p.Status, p.Before = p.Before, ""
		l.resumeSettlement(p, now)
	}
	l.emitPayment(now, "PAYMENT_PARTIALLY_REFUNDED", p)
}

// EndRefund completes or denies a refund that was left in progress.
func (l Payments) EndRefund(id string, denied bool, now time.Time) (*Payment, *APIError) {
	p, err := l.livePayment(id)
	if err != nil {
		return nil, err
	}
	if p.Status != statusRefundInProgress {
		return nil, errAction("the payment has no refund in progress")
	}
	if !denied {
		l.finishRefund(p, now)
		return p, nil
	}
	last := &p.Refunds[len(p.Refunds)-1]
	last.Status = refundCancelled
	if p.Before == statusReceived {
		l.Balance += last.Value
	}
	p.Status, p.Before = p.Before, ""
	l.resumeSettlement(p, now)
	l.emitPayment(now, "PAYMENT_REFUND_DENIED", p)
	return p, nil
}
