package app_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/accounts"
	"marquee/modules/payments/paymentstest"
	"marquee/modules/subscriptions/subscriptionstest"
	"marquee/testutil/apitest"
)

// obj is a JSON object.
type obj = map[string]any

// made is what one example call did.
type made struct {
	response *apitest.Response
	resource string
	record   string // "" where the resource has but one
}

// office is a platform with both gateways and people at work in it.
type office struct {
	*platformtest.Platform
	t      *testing.T
	root   *apitest.Client
	people int
}

func openOffice(t *testing.T) *office {
	t.Helper()
	p := platformtest.WithGateways(t)
	subscriptionstest.Plan(t, p.DB, subscriptionstest.PlanID, 4990)
	return &office{Platform: p, t: t, root: p.Root()}
}

func (o *office) admin() accounts.User {
	u, _ := o.NewAdmin()
	return u
}

// subscribed is a paid subscription at a gateway.
func (o *office) subscribed(gateway string) string {
	_, client := o.NewCustomer()
	body := obj{"plan_id": subscriptionstest.PlanID, "payment_method_id": paymentstest.TokenApproved}
	if gateway == "gwa" {
		body = obj{
			"plan_id": subscriptionstest.PlanID,
			"credit_card": obj{
				"holderName": "ANA SOUZA", "number": paymentstest.CardApproved, "expiryMonth": "05",
				"expiryYear": "2099",
				"ccv":        "318",
			},
			"credit_card_holder_info": obj{
				"name": "Ana Souza", "email": "ana@example.com", "cpfCnpj": "52998224725", "postalCode": "01310100",
				"addressNumber": "150", "phone": "1138830000",
			},
		}
	}
	id := idIn(client.Post("/"+gateway+"/subscribe", body).Expect(http.StatusCreated))
	require.NoError(o.t, o.Gateways.Sandbox.GWA.Advance(time.Minute))
	o.Settle()
	return id
}

// unapplied is a payment of a subscription at a gateway that is on the list of those
// that could not be applied.
func (o *office) unapplied(gateway string) string {
	subscription := o.subscribed(gateway)
	var id string
	require.NoError(o.t, o.DB.QueryRow(o.t.Context(), `WITH late AS (
			UPDATE payments.payments SET counted = false WHERE local_id = $1 RETURNING *)
		INSERT INTO payments.unapplied_payments
			(kind, gateway, subject, gateway_payment_id, amount_cents, customer_id, subscription_id, created_at, updated_at)
		SELECT 'late', gateway, gateway_payment_id, gateway_payment_id, amount_cents, customer_id, local_id, now(), now()
		FROM late RETURNING id`, subscription).Scan(&id))
	return id
}

// decide decides about an unapplied payment.
func (o *office) decide(id, decision string, body any) made {
	return made{o.root.Post("/admin/finance/unapplied-payments/"+id+decision, body), "unapplied-payments", id}
}

// job does something to a job in a state, which nobody works.
func (o *office) job(state, act string, body any) made {
	path := "/admin/jobs/" + strconv.FormatInt(newJob(o.t, o.Platform, state), 10) + "/" + act
	return made{o.root.Post(path, body), "jobs", ""}
}

// idIn is the id of the only document of an answer.
func idIn(a *apitest.Response) string {
	return a.Expect(a.Status).Map()["docs"].([]any)[0].(obj)["_id"].(string)
}

// post makes one record of a collection and names it.
func (o *office) post(path, resource string, body obj) made {
	a := o.root.Post(path, []obj{body}).Expect(http.StatusOK)
	return made{a, resource, idIn(a)}
}

// put changes one field of a record.
func (o *office) put(path, resource, id, field string, value any) made {
	return made{o.root.Put(path, []obj{{"_id": id, field: value}}), resource, id}
}

func (o *office) remove(path, resource, id string) made {
	return made{o.root.Delete(path+"?_id="+id, nil), resource, id}
}

var (
	aCategory = obj{"name": "Drama", "slug": "drama"}
	aVideo    = obj{
		"title": "Film", "slug": "film", "video_id": "https://video.example.com/1", "duration": 90,
		"release_date": "2026-01-01",
	}
	anEvent  = obj{"title": "Premiere", "event_date": "2099-01-01T20:00:00Z"}
	aPromo   = obj{"title": "Half", "code_type": "promo"}
	aColumn  = obj{"name": "To do"}
	aProfile = obj{"name": "Editors"}
	aPlan    = obj{"plan_id": "gold", "name": "Gold", "amount": 990}
)

func (o *office) category() string { return o.post("/categories", "", unique(o, aCategory)).record }
func (o *office) video() string    { return o.post("/videos", "", unique(o, aVideo)).record }
func (o *office) event() string    { return o.post("/events", "", anEvent).record }
func (o *office) promo() string    { return o.post("/admin/promo-codes", "", aPromo).record }
func (o *office) plan() string     { return o.post("/plans", "", unique(o, aPlan)).record }
func (o *office) column() string {
	return o.post("/admin/requisition-status", "", unique(o, aColumn)).record
}
func (o *office) profile() string { return o.post("/users-type", "", unique(o, aProfile)).record }

func (o *office) card() string {
	return o.post("/admin/requisitions", "", obj{"name": "Buy lamps", "status_id": o.column()}).record
}

// ticket is an available one, and who holds it.
func (o *office) ticket() (id string, holder *apitest.Client) {
	u, client := o.NewCustomer()
	return idIn(o.root.Post("/tickets", obj{"customer_id": u.ID, "event_id": o.event()}).Expect(http.StatusOK)), client
}

// scanned is a ticket's code.
func (o *office) scanned() (id, payload string) {
	id, holder := o.ticket()
	return id, holder.Get("/me/tickets/" + id + "/qr").Expect(http.StatusOK).Map()["qr_payload"].(string)
}

// unique is the body with names that no other has.
func unique(o *office, body obj) obj {
	o.people++
	other := obj{}
	for name, value := range body {
		other[name] = value
		if name == "slug" || name == "name" || name == "plan_id" {
			other[name] = value.(string) + "-" + strconv.Itoa(o.people)
		}
	}
	return other
}

// send uploads a picture, which every upload takes.
func (o *office) send(path string) *apitest.Response {
	var picture, form bytes.Buffer
	require.NoError(o.t, png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 8, 8))))
	parts := multipart.NewWriter(&form)
	part, err := parts.CreateFormFile("file", "a.png")
	require.NoError(o.t, err)
	_, err = part.Write(picture.Bytes())
	require.NoError(o.t, err)
	require.NoError(o.t, parts.Close())
	return o.root.Send(http.MethodPost, path, parts.FormDataContentType(), form.Bytes()).Expect(http.StatusOK)
}

// session is one of the user's that goes on.
func (o *office) session(userID string) string {
	return o.Insert(`INSERT INTO accounts.sessions (id, user_id, method, second_factor, device, address, started_at,
			refreshed_at, expires_at)
		VALUES (platform.new_object_id(), $1, 'login', false, '', '', $2, $2, $2::timestamptz + interval '1 day')`, userID,
		paymentstest.Now()).String()
}

// beginTotp begins to set up root's second factor, whether there is one or not.
func (o *office) beginTotp() *apitest.Response {
	o.Exec(`DELETE FROM accounts.totp`)
	return o.root.Post("/me/totp", obj{"current_password": platformtest.Password})
}

func (o *office) confirmTotp() *apitest.Response {
	code, err := totp.GenerateCode(o.beginTotp().Expect(http.StatusOK).Map()["secret"].(string), paymentstest.Now())
	require.NoError(o.t, err)
	return o.root.Post("/me/totp/confirm", obj{"totp": code}).Expect(http.StatusOK)
}

// registerPasskey registers one of root's, who has no second factor.
func (o *office) registerPasskey() *apitest.Response {
	o.Exec(`DELETE FROM accounts.totp`)
	options := o.root.Post("/me/passkeys/options", obj{"current_password": platformtest.Password}).Expect(http.StatusOK)
	parsed, err := virtualwebauthn.ParseAttestationOptions(string(options.Body))
	require.NoError(o.t, err)
	key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
	for len(key.Key.AttestationData()) < 77 { // it leaves zeros in front of a coordinate out, which no real one does
		key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
	}
	site := virtualwebauthn.RelyingParty{ID: parsed.RelyingPartyID, Origin: "https://" + parsed.RelyingPartyID}
	credential := virtualwebauthn.CreateAttestationResponse(site, virtualwebauthn.NewAuthenticator(),
		key, *parsed)
	return o.root.Post("/me/passkeys", obj{"name": "Phone", "credential": json.RawMessage(credential)})
}

func (o *office) self() string { return o.root.Get("/current-user").Map()["user_id"].(string) }

// active is a subscription that no gateway knows.
func (o *office) active() string {
	u, _ := o.NewCustomer()
	return subscriptionstest.Active(o.t, o.DB, u.ID).String()
}

func (o *office) act(before, id, after string, body any) made {
	if body == nil {
		return made{o.root.Do(http.MethodPost, before+id+after, nil), "subscriptions", id}
	}
	return made{o.root.Post(before+id+after, body), "subscriptions", id}
}

// actOnOrder buys a ticket and has an admin do something with the order.
func (o *office) actOnOrder(what string) made {
	o.t.Helper()
	event := idIn(o.root.Post("/events", []obj{{
		"title": "Premiere", "event_date": "2099-01-01T20:00:00Z", "ticket_value": 30, "is_sale_box_office": true,
	}}).Expect(http.StatusOK))
	_, client := o.NewCustomer()
	bought := client.Post("/store/purchase/gwb/card", obj{
		"event_id": event, "quantity": 1, "payment_method_id": paymentstest.TokenApproved,
	}).Expect(http.StatusOK)
	id := bought.Map()["order"].(obj)["_id"].(string)
	return made{o.root.Post("/admin/ticket-orders/"+id+what, obj{"reason": "as agreed"}), "ticket-orders", id}
}

// newCustomerNote is a note about a new customer.
func (o *office) newCustomerNote() obj {
	o.t.Helper()
	u, _ := o.NewCustomer()
	return obj{"customer_id": u.ID, "text": "Called"}
}

func (o *office) newView() *apitest.Response {
	o.t.Helper()
	return o.root.Post("/admin/views", obj{"path": "/customers", "name": "All"}).Expect(http.StatusOK)
}

// beginBulk begins to label the customers of a name; nobody works the job.
func (o *office) beginBulk() *apitest.Response {
	o.t.Helper()
	u, _ := o.NewCustomer()
	return o.root.Post("/admin/bulk-acts", obj{
		"act": "customer_update", "query": `{"_id":"` + u.ID.String() + `"}`, "expected": 1, "arguments": obj{"labels": []string{"x"}},
	}).Expect(http.StatusOK)
}

// checkImport uploads a file of one video; nobody works its job.
func (o *office) checkImport() *apitest.Response {
	o.t.Helper()
	return checkFile(o.root, films(o.Count("SELECT count(*) FROM catalog.imports"), 1)).Expect(http.StatusOK)
}
