package door

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"marquee/platform/objectid"
)

// readCodes is how many random codes are read; a decoder that has to find the code
// in the picture by itself misses one or two in a hundred.
const readCodes = 2000

// TestCodesAreReadByTwoDecoders: two programs that share no code read in every
// picture what the server has signed.
func TestCodesAreReadByTwoDecoders(t *testing.T) {
	t.Parallel()
	var master [32]byte
	_, _ = rand.Read(master[:])
	keys := NewKeys(master[:], nil)
	codes, pictures := make([]string, readCodes), make([][]byte, readCodes)
	each(t, func(i int) (err error) {
		codes[i] = keys.Sign(Content{TicketID: objectid.New(), EventID: objectid.New()}).Picture()
		pictures[i], err = QRPNG(codes[i])
		return err
	})

	t.Run("gozxing", func(t *testing.T) {
		t.Parallel()
		each(t, func(i int) error {
			drawn, err := png.Decode(bytes.NewReader(pictures[i]))
			if err != nil {
				return err
			}
			read, err := readPicture(drawn)
			if err != nil || read != codes[i] {
				return fmt.Errorf("%s is read as %q: %w", codes[i], read, err)
			}
			return nil
		})
	})

	t.Run("zbarimg", func(t *testing.T) {
		t.Parallel()
		zbarimg, err := exec.LookPath("zbarimg")
		if err != nil {
			t.Skip("zbarimg is not installed (Debian: apt-get install zbar-tools): only gozxing reads the codes")
		}
		folder, names := t.TempDir(), make([]string, readCodes)
		for i := range names {
			names[i] = filepath.Join(folder, fmt.Sprintf("%04d.png", i))
			require.NoError(t, os.WriteFile(names[i], pictures[i], 0o600))
		}
		var read []string
		for some := range slices.Chunk(names, 100) {
			args := append([]string{"--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"}, some...)
			out, err := exec.CommandContext(t.Context(), zbarimg, args...).Output() //nolint:gosec // a tool of the machine
			require.NoError(t, err, "zbarimg finds no code in one of these pictures")
			read = append(read, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")...)
		}
		require.Equal(t, codes, read)
	})
}

// readPicture reads a picture that holds nothing but one code. Told so, gozxing still
// misses one in some tens of thousands, which it reads when it looks for the code itself.
func readPicture(drawn image.Image) (string, error) {
	bitmap, err := gozxing.NewBinaryBitmapFromImage(drawn)
	if err != nil {
		return "", err
	}
	reader := qrcode.NewQRCodeReader()
	read, err := reader.Decode(bitmap, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	if err != nil {
		reader.Reset()
		read, err = reader.Decode(bitmap, nil)
	}
	if err != nil {
		return "", err
	}
	return read.GetText(), nil
}

// each does a step for every code, on all cores.
func each(t *testing.T, step func(i int) error) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range readCodes {
		group.Go(func() error { return step(i) })
	}
	require.NoError(t, group.Wait())
}
