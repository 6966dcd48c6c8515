package reports

import (
	"context"
	"net/mail"
	"reflect"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jackc/pgx/v5"

	"marquee/modules/finance/internal/financedb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/taxid"
)

type customer360Input struct {
	ID    string `query:"_id" doc:"The customer's _id"`
	Email string `query:"email" doc:"The customer's e-mail, in any case"`
	TaxID string `query:"tax_id" doc:"The customer's CPF or CNPJ; dots, dashes and slashes do not count"`
}

// Customer360 is the answer of GET /admin/customers/360 (docs/contract/figures.md, Subscriptions and customers):
// everything about a customer on one page. Money in cents. Each list holds the
// newest 100, newest first; totals count everything.
type Customer360 struct {
	Customer      customerDoc            `json:"customer"`
	Subscription  currentSubscription    `json:"subscription" doc:"The current one; null without one"`
	Subscriptions []customerSubscription `json:"subscriptions" maxItems:"100"`
	Payments      []customerPayment      `json:"payments" maxItems:"100" doc:"Settled ones, of subscriptions and ticket orders"`
	Refunds       []customerRefund       `json:"refunds" maxItems:"100"`
	Tickets       []customerTicket       `json:"tickets" maxItems:"100"`
	Orders        []customerOrder        `json:"orders" maxItems:"100" doc:"Ticket orders"`
	PromoCodes    []customerPromoCode    `json:"promo_codes" maxItems:"100" doc:"Redeemed ones"`
	Watch         customerWatch          `json:"watch"`
	Totals        customerTotals         `json:"totals"`
	Timeline      []customerMoment       `json:"timeline" maxItems:"100"`
}

// customerDoc is the customer without their secrets.
type customerDoc struct {
	ID                    objectid.ID    `json:"_id"`
	Username              string         `json:"username"`
	Email                 string         `json:"email"`
	FullName              string         `json:"full_name"`
	TaxID                 *string        `json:"tax_id" nullable:"true"`
	Phone                 *string        `json:"phone" nullable:"true"`
	Nationality           string         `json:"nationality" doc:"Empty when not given"`
	Address               map[string]any `json:"address" nullable:"true"`
	Enable                bool           `json:"enable"`
	EmailVerified         bool           `json:"email_verified"`
	EmailVerifiedAt       *httpapi.Time  `json:"email_verified_at" nullable:"true"`
	CurrentSubscriptionID *objectid.ID   `json:"current_subscription_id" nullable:"true"`
	PromoCodeUsed         *string        `json:"promo_code_used" nullable:"true" doc:"Given at signup"`
	Labels                []string       `json:"labels" doc:"Words by which staff sort customers"`
	CreatedAt             httpapi.Time   `json:"created_at"`
	UpdatedAt             httpapi.Time   `json:"updated_at"`
}

type customerSubscription struct {
	ID                objectid.ID   `json:"_id"`
	PlanID            string        `json:"plan_id"`
	PlanName          string        `json:"plan_name"`
	Gateway           string        `json:"gateway" enum:"gwa,gwb"`
	PaymentMethod     string        `json:"payment_method" enum:"credit_card,pix,boleto"`
	Status            string        `json:"status" enum:"active,pending,suspended,cancelled,expired"`
	Amount            int64         `json:"amount" doc:"Cents a month, as sold"`
	PeriodMonths      int64         `json:"period_months" doc:"Months that one payment buys"`
	StartedAt         *httpapi.Time `json:"started_at" nullable:"true"`
	NextBillingDate   *httpapi.Time `json:"next_billing_date" nullable:"true"`
	LastPaymentAt     *httpapi.Time `json:"last_payment_at" nullable:"true"`
	ExpiresAt         *httpapi.Time `json:"expires_at" nullable:"true"`
	EndedAt           *httpapi.Time `json:"ended_at" nullable:"true"`
	CancelAtPeriodEnd bool          `json:"cancel_at_period_end"`
	PaymentFailures   int64         `json:"payment_failures" doc:"Failures in a row"`
	TotalRefunded     int64         `json:"total_refunded" doc:"Cents"`
	HasChargeback     bool          `json:"has_chargeback"`
	CreatedAt         httpapi.Time  `json:"created_at"`
}

// currentSubscription is a customerSubscription or null.
type currentSubscription struct{}

// Schema is the object in place, since a reference cannot be null.
func (currentSubscription) Schema(r huma.Registry) *huma.Schema {
	s := *huma.SchemaFromType(r, reflect.TypeFor[customerSubscription]())
	s.Nullable = true
	return &s
}

type customerPayment struct {
	ID               objectid.ID  `json:"_id"`
	Purpose          string       `json:"purpose" enum:"subscription,order,customer"`
	LocalID          objectid.ID  `json:"local_id" doc:"Of the subscription, the order or, of neither, the customer"`
	Gateway          string       `json:"gateway" enum:"gwa,gwb"`
	GatewayPaymentID string       `json:"gateway_payment_id"`
	PaymentMethod    string       `json:"payment_method" enum:"credit_card,pix,boleto"`
	Amount           int64        `json:"amount" doc:"Cents"`
	Status           string       `json:"status" doc:"The gateway's own word"`
	PaidAt           httpapi.Time `json:"paid_at"`
}

type customerRefund struct {
	ID          objectid.ID   `json:"_id"`
	Purpose     string        `json:"purpose" enum:"subscription,order,customer"`
	LocalID     objectid.ID   `json:"local_id" doc:"Of the subscription, the order or, of neither, the customer"`
	Gateway     string        `json:"gateway" enum:"gwa,gwb"`
	Amount      int64         `json:"amount" doc:"Cents"`
	Status      string        `json:"status" enum:"requested,pending,done,failed"`
	Reason      *string       `json:"reason" nullable:"true"`
	RequestedAt httpapi.Time  `json:"requested_at"`
	RefundedAt  *httpapi.Time `json:"refunded_at" nullable:"true"`
}

type customerTicket struct {
	ID         objectid.ID  `json:"_id"`
	EventID    objectid.ID  `json:"event_id"`
	EventTitle string       `json:"event_title"`
	EventDate  httpapi.Time `json:"event_date"`
	TicketFigures
}

type customerOrder struct {
	ID            objectid.ID   `json:"_id"`
	EventID       objectid.ID   `json:"event_id"`
	EventTitle    string        `json:"event_title"`
	Quantity      int64         `json:"quantity"`
	UnitPrice     int64         `json:"unit_price" doc:"Cents"`
	Total         int64         `json:"total" doc:"Cents"`
	Refunded      int64         `json:"refunded" doc:"What of it was given back, cents"`
	Gateway       *string       `json:"gateway" nullable:"true" doc:"gwa, gwb; null for a free event"`
	PaymentMethod *string       `json:"payment_method" nullable:"true"`
	PaymentStatus string        `json:"payment_status" doc:"The gateway's own word"`
	PaidAt        *httpapi.Time `json:"paid_at" nullable:"true"`
	CreatedAt     httpapi.Time  `json:"created_at"`
}

type customerPromoCode struct {
	PromoCodeID objectid.ID  `json:"promo_code_id"`
	Code        string       `json:"code"`
	CodeType    string       `json:"code_type" enum:"promo,ticket"`
	Tickets     int64        `json:"tickets" doc:"Issued by the redemption"`
	RedeemedAt  httpapi.Time `json:"redeemed_at"`
}

type customerWatch struct {
	Videos int64         `json:"videos" doc:"Videos begun"`
	LastAt *httpapi.Time `json:"last_at" nullable:"true"`
}

type customerTotals struct {
	Paid        int64 `json:"paid" doc:"Cents: settled payments of subscriptions and orders"`
	Refunded    int64 `json:"refunded" doc:"Cents"`
	Chargebacks int64 `json:"chargebacks" doc:"Cents: disputes that took money and were not won"`
	Net         int64 `json:"net" doc:"Cents: paid - refunded - chargebacks"`
	Orders      int64 `json:"orders"`
	Tickets     int64 `json:"tickets" doc:"Not counting expired-unpaid"`
}

// customerMoment is one thing that happened: a sentence, and the values that it is made of, by its type. A value that
// the type does not have is absent.
type customerMoment struct {
	At      httpapi.Time `json:"at"`
	Type    string       `json:"type" enum:"signup,email_verified,subscription,payment,payment_failed,refund,chargeback,order,ticket,promo_code"`
	Summary string       `json:"summary" doc:"A sentence in English, of the values below"`

	Amount        int64  `json:"amount,omitempty" doc:"Cents, of payment, payment_failed, refund, chargeback and order; of a chargeback negative where the dispute was won"`
	Gateway       string `json:"gateway,omitempty" enum:"gwa,gwb" doc:"Of payment, payment_failed, refund and chargeback"`
	Purpose       string `json:"purpose,omitempty" enum:"subscription,order,customer" doc:"Of payment; customer: of neither that is known"`
	PaymentMethod string `json:"payment_method,omitempty" enum:"credit_card,pix,boleto" doc:"Of payment"`
	RefundStatus  string `json:"refund_status,omitempty" enum:"requested,pending,done,failed" doc:"Of refund"`
	PlanName      string `json:"plan_name,omitempty" doc:"Of subscription"`
	FromStatus    string `json:"from_status,omitempty" enum:"active,pending,suspended,cancelled,expired" doc:"Of subscription; absent where it began"`
	ToStatus      string `json:"to_status,omitempty" enum:"active,pending,suspended,cancelled,expired" doc:"Of subscription"`
	Reason        string `json:"reason,omitempty" doc:"Of subscription: why, as its history has it"`
	Quantity      int64  `json:"quantity,omitempty" doc:"Tickets of order"`
	EventTitle    string `json:"event_title,omitempty" doc:"Of order and ticket"`
	PromoCode     string `json:"promo_code,omitempty" doc:"Of promo_code"`
}

var (
	taxIDMarks = strings.NewReplacer(".", "", "-", "", "/", "", " ", "")
	taxIDForm  = regexp.MustCompile(taxid.Form)
)

// GetCustomer360 answers GET /admin/customers/360. At least one of the three
// parameters names the customer; several have to name the same one. 422 for none
// and for a malformed one, 404 when there is no such customer or the customer is deleted.
func (h Handlers) GetCustomer360(ctx context.Context, in *customer360Input) (*document, error) {
	who, err := in.customer()
	if err != nil {
		return nil, err
	}
	return h.document(httpapi.InFull(ctx), "Customer",
		func(ctx context.Context, tx pgx.Tx) ([]byte, error) { return h.db.Customer360Get(ctx, tx, who) })
}

type customerTimelineInput struct {
	ID   string `path:"id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits" doc:"The customer's _id"`
	Type string `query:"type" enum:"signup,email_verified,subscription,payment,payment_failed,refund,chargeback,order,ticket,promo_code" doc:"Of that type alone"`
	Skip int    `query:"skip" minimum:"0" maximum:"100000" default:"0" doc:"Newer ones that are left out"`
	Qty  int    `query:"qty" minimum:"1" maximum:"100" default:"25"`
}

// CustomerTimeline is the answer of GET /admin/customers/{id}/timeline: what happened to a customer, newest first.
type CustomerTimeline struct {
	Timeline []customerMoment `json:"timeline"`
	More     bool             `json:"more" doc:"There are older ones"`
}

// GetCustomerTimeline answers GET /admin/customers/{id}/timeline. 404 when there is no such customer or the customer is
// deleted.
func (h Handlers) GetCustomerTimeline(ctx context.Context, in *customerTimelineInput) (*document, error) {
	arg := financedb.CustomerTimelineGetParams{
		ID: strings.ToLower(in.ID), Kind: in.Type, Skip: int32(in.Skip), Qty: int32(in.Qty), //nolint:gosec // both are bounded
	}
	return h.document(httpapi.InFull(ctx), "Customer",
		func(ctx context.Context, tx pgx.Tx) ([]byte, error) { return h.db.CustomerTimelineGet(ctx, tx, arg) })
}

// customer reads who is meant.
func (in *customer360Input) customer() (who financedb.Customer360GetParams, err error) {
	if in.ID == "" && in.Email == "" && in.TaxID == "" {
		return who, fault.InvalidAt("is required, or email or tax_id in its place", "query", "_id")
	}
	if in.ID != "" {
		id, err := objectid.Parse(in.ID)
		if err != nil {
			return who, fault.InvalidAt(err.Error(), "query", "_id")
		}
		who.ID = nullable.Ptr(id.String())
	}
	if in.Email != "" {
		if address, err := mail.ParseAddress(in.Email); err != nil || address.Address != in.Email ||
			len(in.Email) > 254 {
			return who, fault.InvalidAt("has to be an e-mail address", "query", "email")
		}
		who.Email = nullable.Ptr(strings.ToLower(in.Email))
	}
	if in.TaxID != "" {
		bare := taxid.Normal(taxIDMarks.Replace(in.TaxID))
		if !taxIDForm.MatchString(bare) {
			return who, fault.InvalidAt("has to be a CPF of 11 digits or a CNPJ of 14 characters", "query", "tax_id")
		}
		who.TaxID = nullable.Ptr(bare)
	}
	return who, nil
}

// Tenure is the answer of GET /admin/customers/tenure (docs/contract/figures.md, Subscriptions and customers):
// how long customers stay. A customer's tenure is the days with access, counted
// until now for those who have it; who never had access does not count.
type Tenure struct {
	AverageDays float64        `json:"average_days"`
	MedianDays  float64        `json:"median_days"`
	Buckets     []tenureBucket `json:"buckets" doc:"All of them, also empty ones"`
	Cohorts     []cohort       `json:"cohorts" doc:"Of the last 24 months, by the month in which customers first gained access"`
}

type tenureBucket struct {
	FromDays  int64  `json:"from_days"`
	ToDays    *int64 `json:"to_days" doc:"Not included; null for no end"`
	Customers int64  `json:"customers"`
	Active    int64  `json:"active" doc:"Of these, with access now"`
	Cancelled int64  `json:"cancelled" doc:"Of these, without access"`
}

// GetTenure answers GET /admin/customers/tenure.
func (h Handlers) GetTenure(ctx context.Context, _ *struct{}) (*document, error) {
	return h.document(ctx, "Customers", func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
		return h.db.CustomerTenureGet(ctx, tx)
	})
}
