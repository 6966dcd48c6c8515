package taxid_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/taxid"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		id           string
		alphanumeric bool
		want         bool
	}{
		{"52998224725", false, true},
		{"11144477735", false, true},
		{"52998224724", false, false},
		{"52998224735", false, false},
		{"11111111111", false, false},
		{"00000000000", false, false},
		{"5299822472", false, false},
		{"529.982.247-25", false, false},
		{"5299822472x", false, false},
		{"11222333000181", false, true},
		{"11222333000180", false, false},
		{"00000000000000", false, false},
		{"12ABC34501DE35", true, true},
		{"12ABC34501DE35", false, false},
		{"12ABC34501DE36", true, false},
		{"12abc34501de35", true, false},
		{"12ABC34501DEA5", true, false},
		{"", false, false},
	} {
		require.Equal(t, tc.want, taxid.Valid(tc.id, tc.alphanumeric), "%q alphanumeric %t", tc.id, tc.alphanumeric)
	}
}
