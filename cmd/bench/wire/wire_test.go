package wire

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

func message(kind byte, body string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+len(body)))
	return append(b, body...)
}

func start(version uint32, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(binary.BigEndian.AppendUint32(b, version), body...)
}

// TestStatementsAreCountedHoweverTheyArrive: a message may come in pieces, and many at once.
func TestStatementsAreCountedHoweverTheyArrive(t *testing.T) {
	t.Parallel()
	var said []byte
	for _, m := range [][]byte{
		start(requestTLS, ""), start(196608, "user\x00E\x00"), message('p', "EQEQ"), message('Q', "begin"),
		message('P', "EEEE"), message('B', "QQ"), message('E', ""), message('S', ""), message('E', "x"),
		message('Q', "commit"), message('X', ""),
	} {
		said = append(said, m...)
	}
	for size := 1; size <= len(said); size++ {
		var m messages
		var n int64
		for at := 0; at < len(said); at += size {
			n += m.read(said[at:min(at+size, len(said))])
		}
		require.EqualValues(t, 4, n, "in pieces of %d", size)
	}
}
