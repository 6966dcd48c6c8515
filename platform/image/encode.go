package image

import (
	"bytes"
	"fmt"
	stdimage "image"
	"image/color"
	stddraw "image/draw"
	"image/jpeg"
	"image/png"

	webpenc "github.com/gen2brain/webp"
	"golang.org/x/image/draw"
)

// fit is the size within the two bounds, its ratio kept, no side below 1.
func fit(size stdimage.Point, maxWidth, maxHeight int) stdimage.Point {
	if size.X > maxWidth {
		size = stdimage.Pt(maxWidth, max(1, (size.Y*maxWidth+size.X/2)/size.X))
	}
	if size.Y > maxHeight {
		size = stdimage.Pt(max(1, (size.X*maxHeight+size.Y/2)/size.Y), maxHeight)
	}
	return size
}

func scale(src stdimage.Image, to stdimage.Point) stdimage.Image {
	out := stdimage.NewRGBA(stdimage.Rectangle{Max: to})
	draw.BiLinear.Scale(out, out.Bounds(), src, src.Bounds(), draw.Src, nil)
	return out
}

func encode(pixels stdimage.Image, o Options) ([]byte, error) {
	var out bytes.Buffer
	var err error
	switch o.Format {
	case JPEG:
		err = jpeg.Encode(&out, opaque(pixels), &jpeg.Options{Quality: o.Quality})
	case PNG:
		err = (&png.Encoder{CompressionLevel: png.DefaultCompression}).Encode(&out, pixels)
	case WebP:
		err = webpenc.Encode(&out, straight(pixels), webpenc.Options{Quality: min(o.Quality, maxLossyWebP), Method: 4})
	default:
		return nil, fmt.Errorf("image: no encoder for %q", o.Format)
	}
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", o.Format, err)
	}
	return out.Bytes(), nil
}

// maxLossyWebP keeps WebP lossy: the library takes 100 for lossless, which for
// photographs is many times larger.
const maxLossyWebP = 99

// straight copies a picture into the one form that the WebP encoder takes as it
// is: it would read premultiplied pixels as straight ones, and past the planes of
// a decoded WebP with transparency, which it takes to lie behind one another.
func straight(src stdimage.Image) *stdimage.NRGBA {
	out := stdimage.NewNRGBA(stdimage.Rectangle{Max: src.Bounds().Size()})
	stddraw.Draw(out, out.Bounds(), src, src.Bounds().Min, stddraw.Src)
	return out
}

// opaque lays a picture with transparency on white, for JPEG has none.
func opaque(src stdimage.Image) stdimage.Image {
	if o, ok := src.(interface{ Opaque() bool }); ok && o.Opaque() {
		return src
	}
	out := stdimage.NewRGBA(stdimage.Rectangle{Max: src.Bounds().Size()})
	stddraw.Draw(out, out.Bounds(), stdimage.NewUniform(color.White), stdimage.Point{}, stddraw.Src)
	stddraw.Draw(out, out.Bounds(), src, src.Bounds().Min, stddraw.Over)
	return out
}
