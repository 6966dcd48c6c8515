package door

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/objectid"
	"marquee/testutil/golden"
)

// FuzzCode: no change of a code, and no text at all, is taken for one of ours.
func FuzzCode(f *testing.F) {
	keys := NewKeys([]byte("0123456789abcdef0123456789abcdef"), [][]byte{[]byte("former key of thirty-two letters")})
	content := Content{TicketID: objectid.New(), EventID: objectid.New()}
	code := keys.Sign(content)
	for _, good := range []string{code.Text(), code.Picture()} {
		f.Add(good)
		f.Add(good[:len(good)-1] + "A")
		f.Add(" " + good)
		f.Add(good[:4])
	}
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		read, err := keys.verify(text)
		if text == code.Text() || text == code.Picture() {
			require.NoError(t, err)
			require.Equal(t, content, read)
			return
		}
		require.ErrorIs(t, err, errForged)
	})
}

func TestEveryChangedCharacterForgesACode(t *testing.T) {
	t.Parallel()
	master, former := []byte("0123456789abcdef0123456789abcdef"), []byte("former key of thirty-two letters")
	keys := NewKeys(master, [][]byte{former})
	content := Content{TicketID: objectid.New(), EventID: objectid.New()}
	code := keys.Sign(content)
	require.Len(t, code.Text(), 127)
	require.Len(t, code.Picture(), 142)
	for _, good := range []string{code.Text(), code.Picture()} {
		for i := range good {
			for _, c := range []byte{'A', 'Z', 'z', '-', '.', ' ', '\n', good[i] ^ 1} {
				if c == good[i] {
					continue
				}
				_, err := keys.verify(good[:i] + string(c) + good[i+1:])
				require.ErrorIs(t, err, errForged, "position %d", i)
				_, err = keys.verify(good[:i] + string(c) + good[i:])
				require.ErrorIs(t, err, errForged, "position %d", i)
			}
		}
	}
	for _, text := range []string{
		NewKeys(former, nil).Sign(content).Text(), NewKeys(former, nil).Sign(content).Picture(),
	} {
		read, err := keys.verify(text)
		require.NoError(t, err, "codes of a former key still open doors")
		require.Equal(t, content, read)
	}
	_, err := keys.verify(NewKeys([]byte("a stranger's key, also long enough"), nil).Sign(content).Picture())
	require.ErrorIs(t, err, errForged)
}

// TestCodesInHandStayGood: codes that buyers have since long, in both forms.
func TestCodesInHandStayGood(t *testing.T) {
	t.Parallel()
	keys := NewKeys([]byte("0123456789abcdef0123456789abcdef"), nil)
	content := Content{TicketID: "65a1b2c3d4e5f60718293a4b", EventID: "65f0e1d2c3b4a5968778695a"}
	code := keys.Sign(content)
	golden.Equal(t, filepath.Join("testdata", "codes.txt"), code.Text()+"\n"+code.Picture()+"\n")
	for _, text := range []string{code.Text(), code.Picture()} {
		read, err := keys.verify(text)
		require.NoError(t, err)
		require.Equal(t, content, read)
	}
}

// TestBase45 has the examples of RFC 9285, as far as they stand for pairs of bytes.
func TestBase45(t *testing.T) {
	t.Parallel()
	for raw, encoded := range map[string]string{
		"AB": "BB8", "Hello!": "%69 VD92E", "base-4": "UJCLQE7W5", "ietf": "QED8WE", "": "",
	} {
		require.Equal(t, encoded, base45Encode([]byte(raw)))
		decoded, err := Base45Decode(encoded)
		require.NoError(t, err)
		require.Equal(t, []byte(raw), decoded)
	}
	for _, text := range []string{"GGW", "A", "AB", "ab8", "::::", ":::"} {
		_, err := Base45Decode(text)
		require.ErrorIs(t, err, errBase45, text)
	}
	decoded, err := Base45Decode("FGW")
	require.NoError(t, err)
	require.Equal(t, []byte{0xFF, 0xFF}, decoded)
}
