// Package image checks, scales and rewrites pictures that strangers upload. A
// picture is known by its content, refused by its dimensions before any pixel is
// decoded, and always encoded anew, so that neither metadata nor anything hidden
// behind the picture survives.
package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	stdimage "image"
	"image/jpeg"
	"image/png"
	"runtime"

	"golang.org/x/image/webp"
)

// Format is an encoding of pictures.
type Format string

// The formats that are read and written.
const (
	JPEG Format = "jpeg"
	PNG  Format = "png"
	WebP Format = "webp"
)

// ContentType is the format's media type.
func (f Format) ContentType() string { return "image/" + string(f) }

// What a picture may hold at most.
const (
	MaxPixels = 25_000_000
	MaxSide   = 12_000
	// maxScans bounds the passes of a progressive JPEG: a few bytes of a scan can
	// cost a pass over all pixels. Encoders make about ten.
	maxScans = 64
)

var (
	// ErrFormat says that the bytes are no JPEG, PNG or WebP, or a broken one.
	ErrFormat = errors.New("image: no JPEG, PNG or WebP")
	// ErrTooLarge says that a picture has over 25 megapixels or a side of over
	// 12,000 pixels.
	ErrTooLarge = errors.New("image: too many pixels")
)

// Picture is an encoded picture.
type Picture struct {
	Format        Format
	Width, Height int
	Data          []byte
}

// Processor decodes a bounded number of pictures at a time: each may take a
// hundred megabytes.
type Processor struct{ slots chan struct{} }

// NewProcessor makes one with the number of slots; 0 means one for each core.
func NewProcessor(slots int) *Processor {
	if slots <= 0 {
		slots = runtime.GOMAXPROCS(0)
	}
	return &Processor{slots: make(chan struct{}, slots)}
}

// Inspect tells format and dimensions from the head of the data, without
// decoding pixels. Errors: ErrFormat, ErrTooLarge.
func Inspect(data []byte) (Picture, error) {
	format, ok := sniff(data)
	if !ok {
		return Picture{}, ErrFormat
	}
	cfg, err := configs[format](data)
	if err != nil {
		return Picture{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	p := Picture{Format: format, Width: cfg.Width, Height: cfg.Height, Data: data}
	if p.Width <= 0 || p.Height <= 0 {
		return Picture{}, ErrFormat
	}
	if p.Width > MaxSide || p.Height > MaxSide || p.Width*p.Height > MaxPixels {
		return Picture{}, ErrTooLarge
	}
	if format == JPEG && scans(data) > maxScans {
		return Picture{}, fmt.Errorf("%w: more than %d scans", ErrFormat, maxScans)
	}
	return p, nil
}

func sniff(data []byte) (Format, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG, true
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return PNG, true
	case len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return WebP, true
	}
	return "", false
}

var configs = map[Format]func([]byte) (stdimage.Config, error){
	JPEG: func(b []byte) (stdimage.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(b)) },
	PNG:  func(b []byte) (stdimage.Config, error) { return png.DecodeConfig(bytes.NewReader(b)) },
	WebP: func(b []byte) (stdimage.Config, error) { return webp.DecodeConfig(bytes.NewReader(b)) },
}

var decoders = map[Format]func([]byte) (stdimage.Image, error){
	JPEG: func(b []byte) (stdimage.Image, error) { return jpeg.Decode(bytes.NewReader(b)) },
	PNG:  func(b []byte) (stdimage.Image, error) { return png.Decode(bytes.NewReader(b)) },
	WebP: func(b []byte) (stdimage.Image, error) { return webp.Decode(bytes.NewReader(b)) },
}

// Normalize rewrites a picture in its own format: upright, at most maxSide
// pixels a side (0: as large as it is), without metadata. Errors: ErrFormat,
// ErrTooLarge, or ctx's while waiting for a slot.
func (p *Processor) Normalize(ctx context.Context, data []byte, maxSide int) (Picture, error) {
	return p.rewrite(ctx, data, func(in Picture, pixels stdimage.Image) (stdimage.Image, Options) {
		if size := pixels.Bounds().Size(); maxSide > 0 && max(size.X, size.Y) > maxSide {
			pixels = scale(pixels, fit(size, maxSide, maxSide))
		}
		pixels = upright(pixels, orientation(data, in.Format)) // last, on fewer pixels
		return pixels, Options{Quality: storedQuality, Format: in.Format}
	})
}

// storedQuality is that of originals; what is shown is made from them.
const storedQuality = 92

// DefaultQuality is that of Options without one.
const DefaultQuality = 80

// Options say how a picture is to be shown.
type Options struct {
	Width   int    // pixels at most, never enlarged; 0: as it is
	Quality int    // 1 to 100; 0 means 80. Without meaning for PNG.
	Format  Format // "": as it is
}

// Resize scales and encodes a picture, its ratio kept. Errors as of Normalize.
func (p *Processor) Resize(ctx context.Context, data []byte, o Options) (Picture, error) {
	return p.rewrite(ctx, data, func(in Picture, pixels stdimage.Image) (stdimage.Image, Options) {
		if o.Format == "" {
			o.Format = in.Format
		}
		if o.Quality == 0 {
			o.Quality = DefaultQuality
		}
		if size := pixels.Bounds().Size(); o.Width > 0 && size.X > o.Width {
			pixels = scale(pixels, fit(size, o.Width, MaxSide))
		}
		return pixels, o
	})
}

func (p *Processor) rewrite(ctx context.Context, data []byte,
	change func(Picture, stdimage.Image) (stdimage.Image, Options),
) (Picture, error) {
	in, err := Inspect(data)
	if err != nil {
		return Picture{}, err
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return Picture{}, ctx.Err()
	}
	pixels, err := decoders[in.Format](data)
	if err != nil {
		return Picture{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if size := pixels.Bounds().Size(); size.X*size.Y > MaxPixels {
		return Picture{}, ErrTooLarge // a decoder that found more than its header said
	}
	pixels, o := change(in, pixels)
	out, err := encode(pixels, o)
	if err != nil {
		return Picture{}, err
	}
	size := pixels.Bounds().Size()
	return Picture{Format: o.Format, Width: size.X, Height: size.Y, Data: out}, nil
}
