package app_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/require"

	"marquee/cmd/internal/app/platformtest"
	"marquee/modules/payments/paymentstest"
)

// TestAGuestsWayToTheDoor: a guest sees the event with its image, buys two tickets for
// a company whose CNPJ has letters, reads the codes in the answer and in the mail
// as a phone's camera does, and the door takes them.
func TestAGuestsWayToTheDoor(t *testing.T) {
	t.Parallel()
	w := running(t)
	event := w.Make(w.Admin(), "/events", object{
		"title": "Premiere", "event_date": time.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339),
		"ticket_value": 60, "is_sale_box_office": true, "location": "Cine Ipiranga",
	})["_id"].(string)
	setImage(w, event)
	page := w.Guest.Get("/store/events/" + event).Expect(200).Map()
	image := w.Guest.Get(strings.TrimPrefix(page["image_url"].(string), "https://api.example.com")).Expect(200)
	require.Contains(t, image.Header.Get("Content-Type"), "image/")

	buyer := object{"full_name": "Cine Clube Ltda", "email": "clube@example.com", "tax_id": "12ABC34501DE35"}
	body := object{"event_id": event, "quantity": 2, "payment_method_id": paymentstest.TokenApproved, "buyer": buyer}
	bought := w.Guest.Post("/store/purchase/checkout/gwb/card", body).Expect(200).Map()
	var statuses []string
	for _, ticket := range bought["tickets"].([]any) {
		statuses = append(statuses, decode(t, ticket.(object)["qr_data_uri"].(string)))
	}
	require.Len(t, statuses, 2)
	mailed := ticketCodes(w, "clube@example.com")
	require.Equal(t, statuses, mailed)
	require.NotEqual(t, statuses[0], statuses[1])
	for i, code := range []string{statuses[0], mailed[1]} {
		used := platformtest.FirstDoc(w.Admin().Post("/tickets/consume-qr",
			object{"qr_payload": code, "event_id": event}).Expect(200))
		require.Equal(t, bought["order"].(object)["ticket_ids"].([]any)[i], used["_id"])
		require.Equal(t, "consumed", used["status"])
	}

	buyer["tax_id"], buyer["email"] = "12ABC34501DE36", "other@example.com"
	require.Equal(t, "buyer.tax_id", w.Guest.Post("/store/purchase/checkout/gwb/card", body).Expect(422).Field())
}

// setImage uploads an image for the event and shows it.
func setImage(w *platformtest.Platform, event string) {
	w.T.Helper()
	var picture, form bytes.Buffer
	require.NoError(w.T, png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 64, 48))))
	parts := multipart.NewWriter(&form)
	part, err := parts.CreateFormFile("file", "poster.png")
	require.NoError(w.T, err)
	_, err = part.Write(picture.Bytes())
	require.NoError(w.T, err)
	require.NoError(w.T, parts.Close())
	a := w.Admin().Send(http.MethodPost, "/upload-file/archive-records/"+event, parts.FormDataContentType(),
		form.Bytes())
	require.Less(w.T, a.Status, 300, "%s", a.Body)
	ids := regexp.MustCompile(`"(?:file_id|_id)":\s*"([0-9a-f]{24})"`).FindAllSubmatch(a.Body, -1)
	require.NotEmpty(w.T, ids, "%s", a.Body)
	w.Admin().Put("/events", []object{{"_id": event, "image_id": string(ids[len(ids)-1][1])}}).Expect(200)
}

var pictures = regexp.MustCompile(`src="(data:image/png;base64,[^"]+)"`)

// ticketCodes waits for the mail with the tickets and reads their codes.
func ticketCodes(w *platformtest.Platform, address string) (codes []string) {
	w.T.Helper()
	require.Eventually(w.T, func() bool {
		for _, m := range w.Mails.Mails() {
			if m.To == address && strings.HasPrefix(m.Subject, "Seus ingressos") {
				for _, found := range pictures.FindAllStringSubmatch(m.HTML, -1) {
					codes = append(codes, decode(w.T, found[1]))
				}
				return true
			}
		}
		return false
	}, time.Minute, 20*time.Millisecond, "the tickets are mailed")
	return codes
}

// decode reads the QR code in a data: URI. It says that the picture holds nothing but
// the code: without, the decoder misses one or two in a hundred of such pictures; with,
// one in some tens of thousands, which it then looks for itself.
func decode(t testing.TB, uri string) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(uri, "data:image/png;base64,"))
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	bitmap, err := gozxing.NewBinaryBitmapFromImage(picture)
	require.NoError(t, err)
	reader := qrcode.NewQRCodeReader()
	read, err := reader.Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	if err != nil {
		reader.Reset()
		read, err = reader.Decode(bitmap, nil)
	}
	require.NoError(t, err)
	return read.GetText()
}
