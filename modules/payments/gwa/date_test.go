package gwa

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-11-20":          "2026-11-20T03:00:00Z",
		"2026-11-20 14:03:12": "2026-11-20T17:03:12Z",
		"20/12/2026":          "2026-12-20T03:00:00Z",
		"05/01/2027":          "2027-01-05T03:00:00Z", // day first
		"20/11/2026 17:00:10": "2026-11-20T20:00:10Z",
		"2018-11-04 12:00:00": "2018-11-04T14:00:00Z", // when there was summer time
	} {
		got, ok := parseDate(in, saoPaulo())
		require.True(t, ok, in)
		require.Equal(t, want, got.Format(time.RFC3339), in)
		require.Equal(t, time.UTC, got.Location())
	}
	for _, in := range []string{
		"", "2026-13-01", "31/02/2026", "20-11-2026", "2026-11-20T14:03:12Z", "tomorrow", "2026-11-20 ",
	} {
		_, ok := parseDate(in, saoPaulo())
		require.False(t, ok, in)
	}
}

func TestDateOfAnyFormNeverFailsAnObject(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`{"dueDate":5}`, `{"dueDate":null}`, `{"dueDate":{}}`, `{"dueDate":"soon"}`, `{}`} {
		var p payment
		require.NoError(t, json.Unmarshal([]byte(in), &p), in)
		require.Nil(t, p.DueDate.in(saoPaulo()), in)
	}
}

func TestDayIsThatOfTheZone(t *testing.T) {
	t.Parallel()
	late := time.Date(2026, 11, 21, 2, 59, 59, 0, time.UTC)
	require.Equal(t, "2026-11-20", day(late, saoPaulo()))
	require.Equal(t, "2026-11-21", day(late.Add(time.Second), saoPaulo()))
}

func TestMaskedHidesWhatNamesACardOrAPerson(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"cartão 5162306219378829 inválido":  "cartão [digits] inválido",
		"5162 3062 1937 8829":               "[digits]",
		"5162-3062-1937-8829":               "[digits]",
		"pagamento de R$ 1.234,56 em 2026":  "pagamento de R$ 1.234,56 em 2026",
		"O CPF/CNPJ informado é inválido.":  "O CPF/CNPJ informado é inválido.",
		"CPF 52998224725 não é aceito aqui": "CPF [digits] não é aceito aqui",
		"CPF 529.982.247-25 de ana@x.com.":  "CPF [digits] de [address]",
		"vence em 2026-11-21 10:30":         "vence em 2026-11-21 10:30",
	} {
		require.Equal(t, want, masked(in))
	}
}
