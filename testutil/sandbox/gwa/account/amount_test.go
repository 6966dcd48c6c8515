package account

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/taxid"
)

func FuzzParseCents(f *testing.F) {
	for _, s := range []string{"49.90", "240", "-0.01", "0.1e2", "10.001", "", ".", "1234567890123.00", "00.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseCents(s)
		if err != nil {
			require.ErrorIs(t, err, ErrAmount)
			return
		}
		printed, err := v.MarshalJSON()
		require.NoError(t, err)
		again, err := ParseCents(string(printed))
		require.NoError(t, err)
		require.Equal(t, v, again)
	})
}

func FuzzTaxID(f *testing.F) {
	f.Add("529.982.247-25")
	f.Add("11.222.333/0001-81")
	f.Add("12.ABC.345/01DE-35")
	f.Fuzz(func(t *testing.T, s string) {
		bare, personType, ok := taxID(s)
		require.Equal(t, ok, personType != "" && ok)
		if ok {
			require.True(t, taxid.Valid(bare, true))
		}
	})
}

func FuzzParseDay(f *testing.F) {
	f.Add("2026-11-20")
	f.Add("20/11/2026")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := parseDay(s)
		if err == nil {
			require.Equal(t, s, string(d))
		}
	})
}

func TestNet_A5(t *testing.T) {
	t.Parallel()
	require.Equal(t, Cents(4792), net(4990, billingCard))
	require.Equal(t, Cents(1881), net(1990, billingCard))
	require.Equal(t, Cents(23801), net(24000, billingPIX))
	require.Equal(t, Cents(0), net(1, billingPIX))
}

func TestCalendar(t *testing.T) {
	t.Parallel()
	require.Equal(t, Day("2026-12-22"), Day("2026-11-20").settledOn())
	require.Equal(t, Day("2026-12-22"), DayOf(Day("2026-12-20").overdueAt()))
	require.Equal(t, Day("2028-02-29"), Day("2028-01-31").next("MONTHLY", 31))
	require.Equal(t, Day("2028-03-31"), Day("2028-02-29").next("MONTHLY", 31))
	require.Equal(t, Day("2027-11-20"), Day("2026-11-20").next("YEARLY", 20))
	require.Equal(t, Day("2026-12-04"), Day("2026-11-20").next("BIWEEKLY", 20))
}

func TestCardsCannotBePrinted(t *testing.T) {
	t.Parallel()
	c := cardInput{Number: "5162306219378829", CCV: "318"}
	require.Equal(t, "card hidden", c.String())
	require.Equal(t, "card hidden", c.GoString())
}

func TestCardBrands(t *testing.T) {
	t.Parallel()
	for number, brand := range map[string]string{
		"5162306219378829": "MASTERCARD", "2223003122003222": "MASTERCARD", "4916561358240741": "VISA",
		"378282246310005": "AMEX", "6362970000457013": "UNKNOWN", "5067230000009011": "ELO",
		"6062826786276634": "HIPERCARD", "6011111111111117": "DISCOVER", "36490102462661": "DINERS",
	} {
		require.Equal(t, brand, cardBrand(number), number)
		require.True(t, luhn(number), number)
	}
	require.False(t, luhn("5162306219378820"))
}
