package account

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
	Start              Day       `json:"start"`
	Finish             Day       `json:"finish,omitempty"`
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

// AuthorizationInput is the body of its creation.
type AuthorizationInput struct {
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

// CreateAuthorization makes the consent and the code of its first payment. The R$ 5.00 rule doesn't apply to it.
func (l Debits) CreateAuthorization(in AuthorizationInput, now time.Time) (*Authorization, *APIError) {
	if _, err := l.liveCustomer(in.CustomerID); err != nil {
		return nil, err
	}
	if !l.Settings.PixKey {
		return nil, errNoPixKey()
	}
	a, err := in.authorization(now)
	if err != nil {
		return nil, err
	}
	a.ID, a.Order, a.EndToEnd = uuid.NewString(), l.order(), authorizationEndToEnd(now)
	a.QRLocation, a.Conciliation = uuid.NewString(), conciliation(l.next("qrCode", 123456))
	l.Authorizations.Put(a.ID, a)
	l.stage.Clock.At(a.QRExpires.Add(30*time.Second), jobRefuseAuthorization, a.ID)
	if a.Finish != "" {
		l.stage.Clock.At(a.Finish.add(1).at(3, 0), jobExpireAuthorization, a.ID)
	}
	l.emitAuthorization(now, StatusCreated, a)
	return a, nil
}

func (in AuthorizationInput) authorization(now time.Time) (*Authorization, *APIError) {
	if err := in.checkTexts(); err != nil {
		return nil, err
	}
	if err := in.checkMoney(); err != nil {
		return nil, err
	}
	a := &Authorization{
		Status: StatusCreated, Customer: in.CustomerID, Contract: in.ContractID, Frequency: in.Frequency,
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
	if err != nil || start < DayOf(now) {
		return nil, BadRequest("invalid_startDate",
			"A data de início deve ser informada e não pode ser inferior a hoje.")
	}
	a.Start = start
	if in.FinishDate != "" {
		finish, err := parseDay(in.FinishDate)
		if err != nil || finish < start {
			return nil, BadRequest("invalid_finishDate", "A data de término não pode ser inferior à data de início.")
		}
		a.Finish = finish
	}
	return a, nil
}

func (in AuthorizationInput) checkTexts() *APIError {
	switch {
	case frequencyCycle[in.Frequency] == "":
		return BadRequest("invalid_frequency", "A frequência informada é inválida.")
	case in.ContractID == "" || len([]rune(in.ContractID)) > maxContract:
		return BadRequest("invalid_contractId", "O campo contractId deve ser informado e ter no máximo 35 caracteres.")
	case len([]rune(in.Description)) > maxAuthorizationDescription:
		return BadRequest("invalid_description", "A descrição não pode ter mais de 35 caracteres.")
	case in.PaymentCreationMode != "" && in.PaymentCreationMode != modeManual &&
		in.PaymentCreationMode != modeSubscription:
		return BadRequest("invalid_paymentCreationMode", "O modo de criação de cobranças informado é inválido.")
	case in.RetryPolicy != "" && in.RetryPolicy != retryNone && in.RetryPolicy != retryThree:
		return BadRequest("invalid_retryPolicy", "A política de retentativas informada é inválida.")
	}
	return nil
}

func (in AuthorizationInput) checkMoney() *APIError {
	first := in.ImmediateQRCode
	switch {
	case first == nil || first.OriginalValue == nil || *first.OriginalValue <= 0 || first.ExpirationSeconds <= 0:
		return BadRequest("invalid_immediateQrCode", "Os dados do QR Code imediato devem ser informados.")
	case in.Value != nil && in.MinLimitValue != nil:
		return ErrObject("Informe somente um dos campos value e minLimitValue.")
	case in.Value != nil && *in.Value <= 0:
		return BadRequest("invalid_value", "O campo value deve ser maior que zero.")
	case in.PaymentCreationMode == modeSubscription && in.Value == nil:
		return BadRequest("invalid_value",
			"O campo value é obrigatório quando as cobranças são criadas por assinatura.")
	}
	return nil
}

// Activate is the payer paying the code and consenting: the first payment comes under a payer customer that the
// gateway makes, without reference, and is known by its pixQrCodeId alone.
func (l Debits) Activate(id string, now time.Time) (*Authorization, *APIError) {
	a, err := l.AuthorizationIn(id, StatusCreated)
	if err != nil {
		return nil, err
	}
	p := Payments(l).addPayment(&Payment{
		Customer: l.payer(now).ID, Value: a.FirstValue, BillingType: billingPIX, Due: DayOf(now),
	}, now)
	p.QRLocation, p.QRCodeID = a.QRLocation, a.Conciliation
	l.emitPayment(now, "PAYMENT_CREATED", p)
	Payments(l).receivePIX(p, now)
	a.Status = StatusActive
	if a.Mode == modeSubscription {
		sub := &Subscription{
			Customer: a.Customer, Value: *a.Value, NextDue: a.Start, Cycle: frequencyCycle[a.Frequency],
			Description: a.Description, BillingType: billingPIX, EndDate: a.Finish, Authorization: a.ID,
		}
		Subscriptions(l).addSubscription(sub, now)
		a.Subscription = sub.ID
	}
	l.emitAuthorization(now, "ACTIVATED", a)
	return a, nil
}

// EndAuthorization moves an authorization to REFUSED, CANCELLED or EXPIRED and cancels what was ordered under it.
func (l Debits) EndAuthorization(id, status, reason string, now time.Time,
	from ...string,
) (*Authorization, *APIError) {
	a, err := l.AuthorizationIn(id, from...)
	if err != nil {
		return nil, err
	}
	a.Status = status
	if status == StatusCancelled {
		a.CancelledAt, a.CancellationReason = now, reason
	}
	l.emitAuthorization(now, status, a)
	for _, i := range l.Instructions.Newest(func(i *Instruction) bool { return i.Authorization == id && i.open() }) {
		l.cancelInstruction(i, reasonNoConsent, now)
	}
	if sub, ok := l.Subscriptions.Find(a.Subscription); ok && sub.Status == StatusActive {
		sub.Status = StatusInactive
		l.emitSubscription(now, "SUBSCRIPTION_INACTIVATED", sub)
	}
	return a, nil
}

// AuthorizationIn finds an authorization that is in one of the statuses.
func (s *state) AuthorizationIn(id string, statuses ...string) (*Authorization, *APIError) {
	a, ok := s.Authorizations.Find(id)
	if !ok {
		return nil, NotFound()
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

// AuthorizationView is an authorization as it is printed.
type AuthorizationView struct {
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

// View prints an authorization with the given date forms and without its code, as events carry it.
func (a *Authorization) View(date func(Day) string, second func(time.Time) string) AuthorizationView {
	v := AuthorizationView{
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

// AuthorizationView prints an authorization as the API answers it: ISO dates, payload and image at the root.
func (l Debits) AuthorizationView(a *Authorization) (AuthorizationView, *APIError) {
	v := a.View(ISOText, ISOTime)
	payload := l.payload(a.QRLocation, a.FirstValue)
	image, err := encodedImage(payload)
	if err != nil {
		return v, err
	}
	v.Payload, v.EncodedImage = &payload, &image
	return v, nil
}
