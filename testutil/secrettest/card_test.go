package secrettest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzCard: the look at each byte leaves out no text in which the expression finds something.
func FuzzCard(f *testing.F) {
	for _, found := range []string{
		"4242424242424242", "pay 4000000000000002.", "5162306219378829", `"5555555555554444"`, "(4111111111111111)",
		"x 4444444444444444", `{"ccv":"123"}`, `{\"cvv\" : \"1234\"}`, "CVC=123", `cCv":123`, "SECURITY_CODE\n=\f123",
		"securityCode: 123", "a\u017fecurity_code=123", "a cvv=1 cvc=12 ccv=123", "cvv\t:\r\n 999",
	} {
		require.NotNil(f, card.FindStringIndex(found), found)
		f.Add(found)
	}
	for _, other := range []string{
		"", "v", "cv", "4242", `{"ccv": null}`, "4242424242424242424", "14242424242424242", "xcvv=123", "cvv=12345",
		"400000000000000x", "y", "security", "receive=123", "cv=123",
	} {
		require.Nil(f, findCard(other), other)
		f.Add(other)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{text, strings.ToUpper(text), "cvv" + text, "cc" + text, text + `":"123"`} {
			require.Equal(t, card.FindStringIndex(text), findCard(text), "%q", text)
		}
	})
}
