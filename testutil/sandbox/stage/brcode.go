package stage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/skip2/go-qrcode"
)

// Limits of the EMV merchant-presented code as the Central Bank of Brazil uses it, in bytes.
const (
	brNameMax     = 25
	brCityMax     = 15
	brLocationMax = 77 // so that the merchant account template stays within 99
)

// BRCode is a dynamic PIX payment code, the text behind "copy and paste" and behind the QR image.
type BRCode struct {
	Location    string // payload URL without scheme, e.g. "pix.example.com/qr/v2/…"; at most 77 bytes
	Name        string // of the receiver; accents are folded, 25 characters kept
	City        string // of the receiver; accents are folded, 15 characters kept
	AmountCents int64  // 0: without amount
}

// String renders the code: tag, two-digit length, value, and the CRC over everything before it. Values must be within
// their limits, which Name and City are cut to and Location is up to the caller.
func (c BRCode) String() string {
	var b strings.Builder
	b.WriteString(tlv("00", "01"))
	b.WriteString(tlv("01", "12"))
	b.WriteString(tlv("26", tlv("00", "br.gov.bcb.pix")+tlv("25", c.Location)))
	b.WriteString(tlv("52", "0000"))
	b.WriteString(tlv("53", "986"))
	if c.AmountCents > 0 {
		b.WriteString(tlv("54", fmt.Sprintf("%d.%02d", c.AmountCents/100, c.AmountCents%100)))
	}
	b.WriteString(tlv("58", "BR"))
	b.WriteString(tlv("59", plain(c.Name, brNameMax, "RECEBEDOR")))
	b.WriteString(tlv("60", plain(c.City, brCityMax, "SAO PAULO")))
	b.WriteString(tlv("62", tlv("05", "***")))
	b.WriteString("6304")
	return b.String() + fmt.Sprintf("%04X", crc16(b.String()))
}

func tlv(tag, value string) string { return fmt.Sprintf("%s%02d%s", tag, len(value), value) }

var folded = strings.NewReplacer(
	"Á", "A", "À", "A", "Â", "A", "Ã", "A", "Ä", "A", "É", "E", "È", "E", "Ê", "E", "Ë", "E", "Í", "I", "Ì", "I", "Î",
	"I", "Ï", "I",
	"Ó", "O", "Ò", "O", "Ô", "O", "Õ", "O", "Ö", "O", "Ú", "U", "Ù", "U", "Û", "U", "Ü", "U", "Ç", "C", "Ñ", "N")

// plain is upper case printable ASCII of at most limit bytes: what every bank's app can show.
func plain(s string, limit int, otherwise string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, folded.Replace(strings.ToUpper(s)))
	s = strings.TrimSpace(s[:min(len(s), limit)])
	if s == "" {
		return otherwise
	}
	return s
}

// crc16 is CRC-16/CCITT-FALSE: polynomial 0x1021, start 0xFFFF, not reflected.
func crc16(s string) uint16 {
	crc := uint16(0xFFFF)
	for i := range len(s) {
		crc ^= uint16(s[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// QRPNG renders a payment code as a square PNG with sides of size pixels.
func QRPNG(code string, size int) ([]byte, error) {
	return qrcode.Encode(code, qrcode.Medium, size)
}

// CheckBRCode accepts what the format checker of a bank's app accepts: well-formed fields in rising order, the
// mandatory ones with their fixed values, lengths within the limits, one PIX account with either URL or key, and the
// right CRC at the very end.
func CheckBRCode(code string) error {
	if len(code) < 8 || code[len(code)-8:len(code)-4] != "6304" {
		return errors.New("does not end in a CRC field")
	}
	if want := fmt.Sprintf("%04X", crc16(code[:len(code)-4])); code[len(code)-4:] != want {
		return fmt.Errorf("CRC is %s, want %s", code[len(code)-4:], want)
	}
	fields, err := fieldsOf(code)
	if err != nil {
		return err
	}
	for tag, want := range map[string]string{"00": "01", "53": "986", "58": "BR"} {
		if fields[tag] != want {
			return fmt.Errorf("field %s is %q, want %q", tag, fields[tag], want)
		}
	}
	if v, present := fields["01"]; present && v != "11" && v != "12" {
		return fmt.Errorf("field 01 is %q", v)
	}
	if !digits(fields["52"], 4) {
		return fmt.Errorf("category code %q", fields["52"])
	}
	if n := len(fields["59"]); n < 1 || n > brNameMax {
		return fmt.Errorf("name of %d bytes", n)
	}
	if n := len(fields["60"]); n < 1 || n > brCityMax {
		return fmt.Errorf("city of %d bytes", n)
	}
	if err := checkAmount(fields); err != nil {
		return err
	}
	return checkPIX(fields)
}

func checkAmount(fields map[string]string) error {
	amount, present := fields["54"]
	if !present {
		return nil
	}
	whole, cents, found := strings.Cut(amount, ".")
	if !found || len(amount) > 13 || !digits(whole, len(whole)) || whole == "" || !digits(cents, 2) {
		return fmt.Errorf("amount %q", amount)
	}
	return nil
}

func checkPIX(fields map[string]string) error {
	account, err := fieldsOf(fields["26"])
	if err != nil {
		return fmt.Errorf("account: %w", err)
	}
	if !strings.EqualFold(account["00"], "br.gov.bcb.pix") {
		return fmt.Errorf("account is of %q", account["00"])
	}
	url, key := account["25"], account["01"]
	if (url == "") == (key == "") {
		return errors.New("want either a URL or a key")
	}
	if strings.Contains(url, "://") || len(url) > brLocationMax {
		return fmt.Errorf("payload URL %q", url)
	}
	extra, err := fieldsOf(fields["62"])
	if err != nil {
		return fmt.Errorf("additional data: %w", err)
	}
	if txid := extra["05"]; txid == "" || len(txid) > 25 {
		return fmt.Errorf("transaction id %q", txid)
	}
	return nil
}

// fieldsOf splits tag-length-value text; tags must rise.
func fieldsOf(s string) (map[string]string, error) {
	fields, last := map[string]string{}, ""
	for len(s) > 0 {
		if len(s) < 4 || !digits(s[:4], 4) {
			return nil, fmt.Errorf("broken field at %q", s)
		}
		tag := s[:2]
		n, _ := strconv.Atoi(s[2:4])
		if n == 0 || len(s) < 4+n {
			return nil, fmt.Errorf("field %s has length %d of %d left", tag, n, len(s)-4)
		}
		if tag <= last {
			return nil, fmt.Errorf("field %s after %s", tag, last)
		}
		fields[tag], last, s = s[4:4+n], tag, s[4+n:]
	}
	return fields, nil
}

func digits(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789") == ""
}
