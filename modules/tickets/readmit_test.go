package tickets_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/apitest"
)

func readmitPath(ticket objectid.ID) string { return "/tickets/" + ticket.String() + "/readmit" }

var wrongGate = object{"reason": "came in by the wrong gate"}

func TestAScanIsUndone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	ticket := b.give(b.customer.ID, event)
	code, path := b.code(ticket), readmitPath(ticket)
	use := func(nonce string) *apitest.Response {
		return b.admin.Post("/tickets/consume-qr", object{"qr_payload": code, "nonce": nonce})
	}

	b.nobody.Post(path, wrongGate).Expect(401)
	b.me.Post(path, wrongGate).Expect(403)
	b.admin.Post(readmitPath(objectid.New()), wrongGate).Expect(404)
	for _, reason := range []any{nil, "", "no", strings.Repeat("x", 501), 7} {
		require.Equal(t, "reason", b.admin.Post(path, object{"reason": reason}).Expect(422).Field())
	}
	notUsed := b.admin.Post(path, wrongGate).Expect(409)
	require.Equal(t, "status", notUsed.Field())
	require.Equal(t, "This ticket was not used: it is available.", notUsed.Detail())

	use("first").Expect(200)
	doc := docs(b.admin.Post(path, wrongGate).Expect(200))[0]
	require.Equal(t, "available", doc["status"])
	require.Nil(t, doc["consumed_at"])
	require.Equal(t, 1, b.issued(event), "its place stays")
	require.Equal(t, "nonce", use("first").Expect(409).Field(), "what was undone does not count again")
	require.Equal(t, "available", b.ticketStatus(ticket))
	use("second").Expect(200)
	use("second").Expect(200)
	b.admin.Post(path, wrongGate).Expect(200)
	require.Equal(t, "nonce", use("first").Expect(409).Field())
	require.Equal(t, "nonce", use("second").Expect(409).Field())
	require.Equal(t, 2, b.count(`SELECT count(*) FROM tickets.readmissions WHERE ticket_id = $1 AND reason = $2
		AND actor_id IS NOT NULL`, ticket, wrongGate["reason"]))
	require.Equal(t, 2, b.count(`SELECT count(*) FROM tickets.transitions WHERE ticket_id = $1
		AND from_status = 'consumed' AND to_status = 'available' AND reason = 'readmitted'`, ticket))
	b.me.Get("/me/tickets/" + ticket.String() + "/qr").Expect(200)
}

func TestAScanIsUndoneInTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	late, over, void := b.give(b.customer.ID, event), b.give(b.customer.ID, event), b.give(b.customer.ID, event)
	for _, ticket := range []objectid.ID{late, void} {
		b.admin.Put("/tickets/"+ticket.String()+"/consume", nil).Expect(200)
	}
	b.clock.Advance(30*time.Minute + time.Millisecond)
	refused := b.admin.Post(readmitPath(late), wrongGate).Expect(409)
	require.Equal(t, "consumed_at", refused.Field())
	require.Contains(t, refused.Detail(), "30 minutes")

	b.clock.Advance(30*24*time.Hour + 2*time.Hour + 20*time.Minute)
	b.admin.Put("/tickets/"+over.String()+"/consume", nil).Expect(200)
	b.clock.Advance(15 * time.Minute)
	require.Equal(t, "event_id", b.admin.Post(readmitPath(over), wrongGate).Expect(409).Field(), "the event is over")
}

func TestAScanOfWhatWasGivenBackStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	ticket := b.give(b.customer.ID, event)
	b.admin.Put("/tickets/"+ticket.String()+"/consume", nil).Expect(200)
	b.admin.Post("/admin/events/"+event.String()+"/cancel", object{"reason": "No projector", "refund": "all"}).Expect(200)
	require.Equal(t, "blocked", b.admin.Post(readmitPath(ticket), wrongGate).Expect(409).Field())
	require.Equal(t, "consumed", b.ticketStatus(ticket))
}

// Scans that were undone are repeated by devices whose upload lost its answer.
func TestAnUndoneScanIsNotUploadedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.event(nil)
	for _, nonce := range []string{"", "7"} {
		ticket := b.give(b.customer.ID, event)
		code, at := b.code(ticket), b.clock.Now()
		upload := func(at time.Time, nonce string) object {
			scan := object{"qr_payload": code, "scanned_at": at.Format(time.RFC3339Nano)}
			if nonce != "" {
				scan["nonce"] = nonce
			}
			return b.admin.Post("/tickets/consume-qr/batch", object{"scans": []object{scan}}).Expect(200).
				Map()["results"].([]any)[0].(object)
		}
		b.clock.Advance(time.Minute)
		require.Equal(t, "consumed", upload(at, nonce)["result"])
		b.admin.Post(readmitPath(ticket), wrongGate).Expect(200)
		require.Equal(t, "repeated", upload(at, nonce)["result"])
		require.Equal(t, "available", b.ticketStatus(ticket))
		require.Equal(t, "consumed", upload(b.clock.Now(), "another")["result"])
		again := upload(at, nonce)
		require.Equal(t, "repeated", again["result"])
		require.Equal(t, false, again["conflict"])
	}
}

func TestTwentyUndoOneScan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ticket := b.give(b.customer.ID, b.event(nil))
	b.admin.Put("/tickets/"+ticket.String()+"/consume", nil).Expect(200)
	responses := make([]*apitest.Response, 20)
	var wg sync.WaitGroup
	for i := range responses {
		wg.Go(func() { responses[i] = b.admin.Post(readmitPath(ticket), wrongGate) })
	}
	wg.Wait()
	undone := 0
	for _, r := range responses {
		if r.Status == 200 {
			undone++
			continue
		}
		require.Equal(t, "status", r.Expect(409).Field())
	}
	require.Equal(t, 1, undone)
	require.Equal(t, 1, b.count("SELECT count(*) FROM tickets.readmissions WHERE ticket_id = $1", ticket))
}
