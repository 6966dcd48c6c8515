package image_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	stdimage "image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	webpenc "github.com/gen2brain/webp"
	"github.com/stretchr/testify/require"
	"golang.org/x/image/webp"

	"marquee/platform/image"
)

// gradient is a picture whose left top is red and whose right bottom is blue.
func gradient(w, h int) *stdimage.RGBA {
	m := stdimage.NewRGBA(stdimage.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.RGBA{R: uint8(255 - 255*x/w), G: 40, B: uint8(255 * y / h), A: 255})
		}
	}
	return m
}

func jpegOf(t testing.TB, m stdimage.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, m, &jpeg.Options{Quality: 95}))
	return out.Bytes()
}

func pngOf(t testing.TB, m stdimage.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, m))
	return out.Bytes()
}

func webpOf(t testing.TB, m stdimage.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, webpenc.Encode(&out, m, webpenc.Options{Quality: 90}))
	return out.Bytes()
}

func decode(t *testing.T, p image.Picture) stdimage.Image {
	t.Helper()
	read := map[image.Format]func() (stdimage.Image, error){
		image.JPEG: func() (stdimage.Image, error) { return jpeg.Decode(bytes.NewReader(p.Data)) },
		image.PNG:  func() (stdimage.Image, error) { return png.Decode(bytes.NewReader(p.Data)) },
		image.WebP: func() (stdimage.Image, error) { return webp.Decode(bytes.NewReader(p.Data)) },
	}
	m, err := read[p.Format]()
	require.NoError(t, err)
	require.Equal(t, stdimage.Pt(p.Width, p.Height), m.Bounds().Size())
	return m
}

func TestNormalizeKeepsFormatAndPicture(t *testing.T) {
	t.Parallel()
	p := image.NewProcessor(2)
	src := gradient(120, 80)
	for format, data := range map[image.Format][]byte{
		image.JPEG: jpegOf(t, src), image.PNG: pngOf(t, src), image.WebP: webpOf(t, src),
	} {
		out, err := p.Normalize(t.Context(), data, 0)
		require.NoError(t, err, format)
		require.Equal(t, format, out.Format)
		m := decode(t, out)
		require.Equal(t, stdimage.Pt(120, 80), m.Bounds().Size())
		r, _, b, _ := m.At(2, 2).RGBA()
		require.Greater(t, r, uint32(0xd000), format)
		require.Less(t, b, uint32(0x3000), format)
	}
}

func TestNormalizeBoundsTheSide(t *testing.T) {
	t.Parallel()
	out, err := image.NewProcessor(1).Normalize(t.Context(), pngOf(t, gradient(300, 1200)), 600)
	require.NoError(t, err)
	require.Equal(t, stdimage.Pt(150, 600), decode(t, out).Bounds().Size())
}

func TestResize(t *testing.T) {
	t.Parallel()
	p := image.NewProcessor(0)
	src := jpegOf(t, gradient(400, 200))
	for name, c := range map[string]struct {
		options image.Options
		format  image.Format
		size    stdimage.Point
	}{
		"as it is":         {image.Options{}, image.JPEG, stdimage.Pt(400, 200)},
		"smaller":          {image.Options{Width: 100}, image.JPEG, stdimage.Pt(100, 50)},
		"never enlarged":   {image.Options{Width: 1024}, image.JPEG, stdimage.Pt(400, 200)},
		"to png":           {image.Options{Width: 33, Format: image.PNG}, image.PNG, stdimage.Pt(33, 17)},
		"to webp":          {image.Options{Width: 16, Format: image.WebP, Quality: 1}, image.WebP, stdimage.Pt(16, 8)},
		"webp at its best": {image.Options{Format: image.WebP, Quality: 100}, image.WebP, stdimage.Pt(400, 200)},
	} {
		out, err := p.Resize(t.Context(), src, c.options)
		require.NoError(t, err, name)
		require.Equal(t, c.format, out.Format, name)
		require.Equal(t, c.size, decode(t, out).Bounds().Size(), name)
	}
	low, err := p.Resize(t.Context(), src, image.Options{Quality: 5})
	require.NoError(t, err)
	high, err := p.Resize(t.Context(), src, image.Options{Quality: 95})
	require.NoError(t, err)
	require.Less(t, len(low.Data), len(high.Data))
}

func TestExtremeRatioKeepsOnePixel(t *testing.T) {
	t.Parallel()
	out, err := image.NewProcessor(1).Resize(t.Context(), pngOf(t, gradient(4000, 1)), image.Options{Width: 16})
	require.NoError(t, err)
	require.Equal(t, stdimage.Pt(16, 1), decode(t, out).Bounds().Size())
}

func TestTransparencyBecomesWhiteInJPEG(t *testing.T) {
	t.Parallel()
	blank := stdimage.NewNRGBA(stdimage.Rect(0, 0, 40, 40))
	p := image.NewProcessor(1)
	out, err := p.Resize(t.Context(), pngOf(t, blank), image.Options{Format: image.JPEG})
	require.NoError(t, err)
	r, g, b, _ := decode(t, out).At(20, 20).RGBA()
	require.Greater(t, min(r, g, b), uint32(0xf000))
	normalized, err := p.Normalize(t.Context(), pngOf(t, blank), 0)
	require.NoError(t, err)
	_, _, _, a := decode(t, normalized).At(20, 20).RGBA()
	require.Zero(t, a, "PNG keeps its transparency")
	normalized, err = p.Normalize(t.Context(), webpOf(t, blank), 0)
	require.NoError(t, err)
	_, _, _, a = decode(t, normalized).At(20, 20).RGBA()
	require.Zero(t, a, "WebP keeps its transparency")
}

// withExif puts an Exif segment with an orientation behind a JPEG's first marker.
func withExif(data []byte, orientation uint16, order binary.AppendByteOrder) []byte {
	mark := "MM\x00\x2a"
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		mark = "II\x2a\x00"
	}
	tiff := order.AppendUint32([]byte(mark), 8)
	tiff = order.AppendUint16(tiff, 1)
	tiff = order.AppendUint16(tiff, 0x0112)
	tiff = order.AppendUint16(tiff, 3)
	tiff = order.AppendUint32(tiff, 1)
	tiff = order.AppendUint16(tiff, orientation)
	tiff = order.AppendUint16(tiff, 0)
	tiff = order.AppendUint32(tiff, 0)
	tiff = append(tiff, "GPS 23.5505 S 46.6333 W"...)
	segment := append([]byte("Exif\x00\x00"), tiff...)
	head := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(segment)+2))
	return slices.Concat(data[:2], head, segment, data[2:])
}

func TestMetadataGoesAndOrientationIsApplied(t *testing.T) {
	t.Parallel()
	p := image.NewProcessor(1)
	src := jpegOf(t, gradient(200, 100)) // red at the left, blue at the bottom
	for orientation := uint16(1); orientation <= 8; orientation++ {
		order := []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian}[orientation%2]
		out, err := p.Normalize(t.Context(), withExif(src, orientation, order), 0)
		require.NoError(t, err)
		require.NotContains(t, string(out.Data), "Exif")
		require.NotContains(t, string(out.Data), "GPS")
		m := decode(t, out)
		size := stdimage.Pt(200, 100)
		if orientation >= 5 {
			size = stdimage.Pt(100, 200)
		}
		require.Equal(t, size, m.Bounds().Size(), "orientation %d", orientation)
		// Where the picture's red, not blue corner (its left top) has to be shown.
		corner := map[uint16]stdimage.Point{
			1: {5, 5},
			2: {194, 5},
			3: {194, 94},
			4: {5, 94},
			5: {5, 5},
			6: {94, 5},
			7: {94, 194},
			8: {5, 194},
		}[orientation]
		r, _, b, _ := m.At(corner.X, corner.Y).RGBA()
		require.Greater(t, r, uint32(0xd000), "orientation %d", orientation)
		require.Less(t, b, uint32(0x3000), "orientation %d", orientation)
	}
	for _, broken := range []uint16{0, 9, 65535} {
		out, err := p.Normalize(t.Context(), withExif(src, broken, binary.BigEndian), 0)
		require.NoError(t, err)
		require.Equal(t, 200, out.Width)
	}
}

// pngHeader is a PNG of a few bytes that says it has w by h pixels.
func pngHeader(w, h uint32) []byte {
	ihdr := binary.BigEndian.AppendUint32([]byte("IHDR"), w)
	ihdr = binary.BigEndian.AppendUint32(ihdr, h)
	ihdr = append(ihdr, 8, 2, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	out = append(out, ihdr...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(ihdr))
}

func TestBombsAreRefusedByTheirHeader(t *testing.T) {
	t.Parallel()
	small := jpegOf(t, gradient(16, 16))
	frame := bytes.Index(small, []byte{0xff, 0xc0})
	huge := slices.Clone(small)
	binary.BigEndian.PutUint16(huge[frame+5:], 65000)
	binary.BigEndian.PutUint16(huge[frame+7:], 65000)
	vp8x := webpOf(t, stdimage.NewNRGBA(stdimage.Rect(0, 0, 16, 16)))
	for name, data := range map[string][]byte{
		"50,000 by 50,000":   pngHeader(50_000, 50_000),
		"25 megapixels + 1":  pngHeader(5_000, 5_001),
		"one side":           pngHeader(12_001, 1),
		"JPEG of 65,000²":    huge,
		"WebP's wide canvas": widened(vp8x),
	} {
		_, err := image.NewProcessor(1).Normalize(t.Context(), data, 0)
		require.Error(t, err, name)
		if name != "WebP's wide canvas" {
			require.ErrorIs(t, err, image.ErrTooLarge, name)
		}
	}
	_, err := image.Inspect(pngHeader(12_000, 2_083))
	require.NoError(t, err, "just within both bounds")
}

// widened makes the canvas of a WebP 16,384 pixels a side, whatever its header.
func widened(data []byte) []byte {
	out := slices.Clone(data)
	if at := bytes.Index(out, []byte("VP8X")); at > 0 {
		copy(out[at+12:], []byte{0xff, 0x3f, 0, 0xff, 0x3f, 0})
	} else if at := bytes.Index(out, []byte("VP8L")); at > 0 {
		copy(out[at+9:], []byte{0xff, 0xff, 0xff, 0x0f})
	}
	return out
}

func TestManyScansAreRefused(t *testing.T) {
	t.Parallel()
	good := jpegOf(t, gradient(16, 16))
	scans := bytes.Repeat([]byte{0xff, 0xda, 0, 2, 1, 2, 3, 0xff, 0, 4}, 100)
	_, err := image.Inspect(slices.Concat(good[:len(good)-2], scans, good[len(good)-2:]))
	require.ErrorIs(t, err, image.ErrFormat)
	_, err = image.Inspect(append(good, scans...))
	require.NoError(t, err, "what lies behind the image is not part of it, as the film of a motion photo")
}

func TestOtherContentIsRefused(t *testing.T) {
	t.Parallel()
	var animated bytes.Buffer
	require.NoError(t, gif.Encode(&animated, gradient(8, 8), nil))
	good := pngOf(t, gradient(64, 64))
	for name, data := range map[string][]byte{
		"nothing":   nil,
		"SVG":       []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
		"HTML":      []byte("<html><body>"),
		"GIF":       animated.Bytes(),
		"PDF":       []byte("%PDF-1.7\n"),
		"cut PNG":   good[:len(good)/2],
		"cut JPEG":  {0xff, 0xd8, 0xff, 0xe0},
		"bare RIFF": []byte("RIFF\x04\x00\x00\x00WEBPVP8 "),
	} {
		_, err := image.NewProcessor(1).Normalize(t.Context(), data, 0)
		require.ErrorIs(t, err, image.ErrFormat, name)
	}
}

// A file that is a picture and something else at once keeps the picture alone.
func TestPolyglotLosesItsOtherHalf(t *testing.T) {
	t.Parallel()
	const other = "<script>alert(document.domain)</script>PK\x03\x04"
	for _, data := range [][]byte{jpegOf(t, gradient(32, 32)), pngOf(t, gradient(32, 32))} {
		out, err := image.NewProcessor(1).Normalize(t.Context(), append(data, other...), 0)
		require.NoError(t, err)
		require.NotContains(t, string(out.Data), "<script>")
		require.NotContains(t, string(out.Data), "PK\x03\x04")
	}
}

func TestWaitingForASlotEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := image.NewProcessor(1)
	entered, release := make(chan struct{}), make(chan struct{})
	go image.Hold(p, entered, release)
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Normalize(ctx, pngOf(t, gradient(8, 8)), 0)
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	_, err = p.Normalize(t.Context(), pngOf(t, gradient(8, 8)), 0)
	require.NoError(t, err)
}

func FuzzNormalize(f *testing.F) {
	f.Add(jpegOf(f, gradient(9, 7)))
	f.Add(pngOf(f, gradient(9, 7)))
	f.Add(webpOf(f, gradient(9, 7)))
	f.Add(withExif(jpegOf(f, gradient(9, 7)), 6, binary.LittleEndian))
	f.Add(pngHeader(50_000, 50_000))
	p := image.NewProcessor(0)
	f.Fuzz(func(t *testing.T, data []byte) {
		if in, err := image.Inspect(data); err == nil && in.Width*in.Height > 1<<16 {
			t.Skip("only the time it takes")
		}
		out, err := p.Normalize(t.Context(), data, 64)
		if err == nil {
			decode(t, out)
		}
	})
}

func BenchmarkResize(b *testing.B) {
	p := image.NewProcessor(0)
	for name, src := range map[string][]byte{"jpeg 2048": jpegOf(b, gradient(2048, 2048))} {
		for _, format := range []image.Format{image.JPEG, image.WebP} {
			b.Run(name+" to 256 "+string(format), func(b *testing.B) {
				for b.Loop() {
					_, err := p.Resize(b.Context(), src, image.Options{Width: 256, Format: format})
					require.NoError(b, err)
				}
			})
		}
	}
}
