package gwa

import (
	"time"

	"github.com/google/uuid"
)

// Values of automatic PIX (docs/gateway-facts.md, A8).
const (
	modeManual       = "MANUAL"
	modeSubscription = "SUBSCRIPTION"

	retryNone  = "NOT_ALLOWED"
	retryThree = "ALLOW_THREE_IN_SEVEN_DAYS"

	maxContract                 = 35
	maxAuthorizationDescription = 35
)

// frequencyCycle maps the frequencies of authorizations to cycles: ANNUALLY here is YEARLY there.
var frequencyCycle = map[string]string{
	"WEEKLY": "WEEKLY", "MONTHLY": "MONTHLY", "QUARTERLY": "QUARTERLY", "SEMIANNUALLY": "SEMIANNUALLY",
	"ANNUALLY": "YEARLY",
}

// Authorization is a payer's consent to automatic PIX.
type Authorization struct {
	ID                 string    `json:"id"`
	Order              int64     `json:"order"`
	EndToEnd           string    `json:"endToEnd"`
	Status             string    `json:"status"`
	Customer           string    `json:"customer"`
	Contract           string    `json:"contract"`
	Frequency          string    `json:"frequency"`
	Start              day       `json:"start"`
	Finish             day       `json:"finish,omitempty"`
	Value              *Cents    `json:"value,omitempty"`
	MinLimit           *Cents    `json:"minLimit,omitempty"`
	Description        string    `json:"description,omitempty"`
	Mode               string    `json:"mode"`
	RetryPolicy        string    `json:"retryPolicy"`
	Subscription       string    `json:"subscription,omitempty"`
	CancelledAt        time.Time `json:"cancelledAt,omitzero"`
	CancellationReason string    `json:"cancellationReason,omitempty"`
	FirstValue         Cents     `json:"firstValue"`
	QRLocation         string    `json:"qrLocation"`
	Conciliation       string    `json:"conciliation"`
	QRExpires          time.Time `json:"qrExpires"`
}

type authorizationInput struct {
	CustomerID          string `json:"customerId"`
	Frequency           string `json:"frequency"`
	ContractID          string `json:"contractId"`
	StartDate           string `json:"startDate"`
	FinishDate          string `json:"finishDate"`
	Value               *Cents `json:"value"`
	MinLimitValue       *Cents `json:"minLimitValue"`
	Description         string `json:"description"`
	PaymentCreationMode string `json:"paymentCreationMode"`
	RetryPolicy         string `json:"retryPolicy"`
	ImmediateQRCode     *struct {
		OriginalValue     *Cents `json:"originalValue"`
		ExpirationSeconds int    `json:"expirationSeconds"`
	} `json:"immediateQrCode"`
}

// createAuthorization makes the consent and the code of its first payment. The R$ 5.00 rule doesn't apply to it.
func (g *Gateway) createAuthorization(in authorizationInput, now time.Time) (*Authorization, *apiError) {
	if _, err := g.liveCustomer(in.CustomerID); err != nil {
		return nil, err
	}
	if !g.Settings.PixKey {
		return nil, errNoPixKey()
	}
	a, err := in.authorization(now)
	if err != nil {
		return nil, err
	}
	a.ID, a.Order, a.EndToEnd = uuid.NewString(), g.order(), authorizationEndToEnd(now)
	a.QRLocation, a.Conciliation = uuid.NewString(), conciliation(g.next("qrCode", 123456))
	g.Authorizations.Put(a.ID, a)
	g.stage.Clock.At(a.QRExpires.Add(30*time.Second), jobRefuseAuthorization, a.ID)
	if a.Finish != "" {
		g.stage.Clock.At(a.Finish.add(1).at(3, 0), jobExpireAuthorization, a.ID)
	}
	g.emitAuthorization(now, statusCreated, a)
	return a, nil
}

func (in authorizationInput) authorization(now time.Time) (*Authorization, *apiError) {
	if err := in.checkTexts(); err != nil {
		return nil, err
	}
	if err := in.checkMoney(); err != nil {
		return nil, err
	}
	a := &Authorization{
		Status: statusCreated, Customer: in.CustomerID, Contract: in.ContractID, Frequency: in.Frequency,
		Value: in.Value, MinLimit: in.MinLimitValue, Description: in.Description, Mode: in.PaymentCreationMode,
		RetryPolicy: in.RetryPolicy, FirstValue: *in.ImmediateQRCode.OriginalValue,
		QRExpires: now.Add(time.Duration(in.ImmediateQRCode.ExpirationSeconds) * time.Second),
	}
	if a.Mode == "" {
		a.Mode = modeManual
	}
	if a.RetryPolicy == "" {
		a.RetryPolicy = retryNone
	}
	start, err := parseDay(in.StartDate)
	if err != nil || start < dayOf(now) {
		return nil, badRequest("invalid_startDate",
			"A data de início deve ser informada e não pode ser inferior a hoje.")
	}
	a.Start = start
	if in.FinishDate != "" {
		finish, err := parseDay(in.FinishDate)
		if err != nil || finish < start {
			return nil, badRequest("invalid_finishDate", "A data de término não pode ser inferior à data de início.")
		}
		a.Finish = finish
	}
	return a, nil
}

func (in authorizationInput) checkTexts() *apiError {
	switch {
	case frequencyCycle[in.Frequency] == "":
		return badRequest("invalid_frequency", "A frequência informada é inválida.")
	case in.ContractID == "" || len([]rune(in.ContractID)) > maxContract:
		return badRequest("invalid_contractId", "O campo contractId deve ser informado e ter no máximo 35 caracteres.")
	case len([]rune(in.Description)) > maxAuthorizationDescription:
		return badRequest("invalid_description", "A descrição não pode ter mais de 35 caracteres.")
	case in.PaymentCreationMode != "" && in.PaymentCreationMode != modeManual &&
		in.PaymentCreationMode != modeSubscription:
		return badRequest("invalid_paymentCreationMode", "O modo de criação de cobranças informado é inválido.")
	case in.RetryPolicy != "" && in.RetryPolicy != retryNone && in.RetryPolicy != retryThree:
		return badRequest("invalid_retryPolicy", "A política de retentativas informada é inválida.")
	}
	return nil
}

func (in authorizationInput) checkMoney() *apiError {
	first := in.ImmediateQRCode
	switch {
	case first == nil || first.OriginalValue == nil || *first.OriginalValue <= 0 || first.ExpirationSeconds <= 0:
		return badRequest("invalid_immediateQrCode", "Os dados do QR Code imediato devem ser informados.")
	case in.Value != nil && in.MinLimitValue != nil:
		return errObject("Informe somente um dos campos value e minLimitValue.")
	case in.Value != nil && *in.Value <= 0:
		return badRequest("invalid_value", "O campo value deve ser maior que zero.")
	case in.PaymentCreationMode == modeSubscription && in.Value == nil:
		return badRequest("invalid_value",
			"O campo value é obrigatório quando as cobranças são criadas por assinatura.")
	}
	return nil
}

// activate is the payer paying the code and consenting: the first payment comes under a payer customer that the
// gateway makes, without reference, and is known by its pixQrCodeId alone.
func (g *Gateway) activate(id string, now time.Time) (*Authorization, *apiError) {
	a, err := g.authorizationIn(id, statusCreated)
	if err != nil {
		return nil, err
	}
	p := g.addPayment(&Payment{
		Customer: g.payer(now).ID, Value: a.FirstValue, BillingType: billingPIX, Due: dayOf(now),
	}, now)
	p.QRLocation, p.QRCodeID = a.QRLocation, a.Conciliation
	g.emitPayment(now, "PAYMENT_CREATED", p)
	g.receivePIX(p, now)
	a.Status = statusActive
	if a.Mode == modeSubscription {
		sub := &Subscription{
			Customer: a.Customer, Value: *a.Value, NextDue: a.Start, Cycle: frequencyCycle[a.Frequency],
			Description: a.Description, BillingType: billingPIX, EndDate: a.Finish, Authorization: a.ID,
		}
		g.addSubscription(sub, now)
		a.Subscription = sub.ID
	}
	g.emitAuthorization(now, "ACTIVATED", a)
	return a, nil
}

// endAuthorization moves an authorization to REFUSED, CANCELLED or EXPIRED and cancels what was ordered under it.
func (g *Gateway) endAuthorization(id, status, reason string, now time.Time,
	from ...string,
) (*Authorization, *apiError) {
	a, err := g.authorizationIn(id, from...)
	if err != nil {
		return nil, err
	}
	a.Status = status
	if status == statusCancelled {
		a.CancelledAt, a.CancellationReason = now, reason
	}
	g.emitAuthorization(now, status, a)
	for _, i := range g.Instructions.Newest(func(i *Instruction) bool { return i.Authorization == id && i.open() }) {
		g.cancelInstruction(i, reasonNoConsent, now)
	}
	if sub, ok := g.Subscriptions.Find(a.Subscription); ok && sub.Status == statusActive {
		sub.Status = statusInactive
		g.emitSubscription(now, "SUBSCRIPTION_INACTIVATED", sub)
	}
	return a, nil
}

// authorizationIn finds an authorization that is in one of the statuses.
func (s *state) authorizationIn(id string, statuses ...string) (*Authorization, *apiError) {
	a, ok := s.Authorizations.Find(id)
	if !ok {
		return nil, notFound()
	}
	for _, status := range statuses {
		if a.Status == status {
			return a, nil
		}
	}
	return nil, errAction("A autorização está com o status " + a.Status + " e não permite esta operação.")
}

type immediateQRView struct {
	ConciliationIdentifier string `json:"conciliationIdentifier"`
	ExpirationDate         string `json:"expirationDate"`
}

type authorizationView struct {
	ID                  string          `json:"id"`
	EndToEndIdentifier  string          `json:"endToEndIdentifier"`
	Status              string          `json:"status"`
	CustomerID          string          `json:"customerId"`
	ContractID          string          `json:"contractId"`
	Frequency           string          `json:"frequency"`
	StartDate           string          `json:"startDate"`
	FinishDate          *string         `json:"finishDate"`
	Value               *Cents          `json:"value"`
	MinLimitValue       *Cents          `json:"minLimitValue"`
	Description         *string         `json:"description"`
	OriginType          string          `json:"originType"`
	PaymentCreationMode string          `json:"paymentCreationMode"`
	RetryPolicy         string          `json:"retryPolicy"`
	SubscriptionID      *string         `json:"subscriptionId"`
	CancellationDate    *string         `json:"cancellationDate"`
	CancellationReason  *string         `json:"cancellationReason"`
	Payload             *string         `json:"payload"`
	EncodedImage        *string         `json:"encodedImage"`
	ImmediateQRCode     immediateQRView `json:"immediateQrCode"`
}

// view prints an authorization with the given date forms and without its code, as events carry it.
func (a *Authorization) view(date func(day) string, second func(time.Time) string) authorizationView {
	v := authorizationView{
		ID: a.ID, EndToEndIdentifier: a.EndToEnd, Status: a.Status, CustomerID: a.Customer, ContractID: a.Contract,
		Frequency: a.Frequency, StartDate: date(a.Start), Value: a.Value, MinLimitValue: a.MinLimit,
		Description: orNull(a.Description), OriginType: "IMMEDIATE_PAYMENT_AND_RECURRING_QR_CODE",
		PaymentCreationMode: a.Mode, RetryPolicy: a.RetryPolicy, SubscriptionID: orNull(a.Subscription),
		CancellationReason: orNull(a.CancellationReason),
		ImmediateQRCode:    immediateQRView{a.Conciliation, second(a.QRExpires)},
	}
	if a.Finish != "" {
		v.FinishDate = orNull(date(a.Finish))
	}
	if !a.CancelledAt.IsZero() {
		v.CancellationDate = orNull(second(a.CancelledAt))
	}
	return v
}

// authorizationView prints an authorization as the API answers it: ISO dates, payload and image at the root.
func (g *Gateway) authorizationView(a *Authorization) (authorizationView, *apiError) {
	v := a.view(isoText, isoTime)
	payload := g.payload(a.QRLocation, a.FirstValue)
	image, err := encodedImage(payload)
	if err != nil {
		return v, err
	}
	v.Payload, v.EncodedImage = &payload, &image
	return v, nil
}
