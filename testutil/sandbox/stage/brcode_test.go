package stage_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/testutil/sandbox/stage"
)

func TestBRCodeIsAccepted(t *testing.T) {
	t.Parallel()
	location := "pix.example.com/qr/v2/0a1b2c3d4e5f60718293a4b5c6d7e8f9"
	for _, c := range []stage.BRCode{
		{Location: location, Name: "CINEPLAY LTDA", City: "SAO PAULO", AmountCents: 59880},
		{
			Location: location, Name: "Ação & Emoção Distribuidora de Filmes S.A.", City: "São José do Rio Preto",
			AmountCents: 1,
		},
		{Location: location, Name: "日本", City: ""},
	} {
		code := c.String()
		require.NoError(t, stage.CheckBRCode(code), code)
		img, err := stage.QRPNG(code, 300)
		require.NoError(t, err)
		decoded, err := png.Decode(bytes.NewReader(img))
		require.NoError(t, err)
		require.Equal(t, 300, decoded.Bounds().Dy())
	}
}

// TestBRCodeOfTheSample is the code in the recorded event of the gateway, made again.
func TestBRCodeOfTheSample(t *testing.T) {
	t.Parallel()
	want := "00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/0a1b2c3d4e5f60718293a4b5c6d7e8f95204000053039865406598.805802BR5913CINEPLAY LTDA6009SAO PAULO62070503***63046AAD"
	got := stage.BRCode{
		Location: "pix.example.com/qr/v2/0a1b2c3d4e5f60718293a4b5c6d7e8f9", Name: "Cineplay Ltda", City: "São Paulo",
		AmountCents: 59880,
	}.String()
	require.Equal(t, want, got)
}

func TestCheckBRCodeRefuses(t *testing.T) {
	t.Parallel()
	good := stage.BRCode{Location: "pix.example.com/qr/v2/0a1b", Name: "A", City: "B", AmountCents: 100}.String()
	require.NoError(t, stage.CheckBRCode(good))
	for name, bad := range map[string]string{
		"empty":            "",
		"other amount":     strings.Replace(good, "1.00", "9.00", 1),
		"lower-case CRC":   good[:len(good)-4] + strings.ToLower("ABCD"),
		"cut":              good[:len(good)-1],
		"something behind": good + "0",
	} {
		require.Error(t, stage.CheckBRCode(bad), name)
	}
	long := stage.BRCode{Location: "https://pix.example.com/x", Name: "A", City: "B"}.String()
	require.Error(t, stage.CheckBRCode(long), "a scheme does not belong into the location")
}

func FuzzCheckBRCode(f *testing.F) {
	f.Add(stage.BRCode{Location: "pix.example.com/x", Name: "A", City: "B", AmountCents: 5}.String())
	f.Add("000201")
	f.Fuzz(func(t *testing.T, code string) { _ = stage.CheckBRCode(code) })
}
