package image

import (
	"encoding/binary"
	stdimage "image"
)

// orientation reads how a camera was held from the Exif data of a JPEG: 1
// (upright) to 8, as in tag 0x0112. It is read before the metadata is dropped,
// or portraits would lie on their side. Whatever cannot be read is upright.
func orientation(data []byte, format Format) int {
	if format != JPEG {
		return 1
	}
	exif := exifOf(data)
	if len(exif) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(exif[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(exif[4:]))
	if at+2 > int64(len(exif)) {
		return 1
	}
	entries := int64(order.Uint16(exif[at:]))
	for i := range entries {
		e := at + 2 + 12*i
		if e+12 > int64(len(exif)) {
			return 1
		}
		const orientationTag = 0x0112
		if order.Uint16(exif[e:]) != orientationTag {
			continue
		}
		if v := int(order.Uint16(exif[e+8:])); v >= 1 && v <= 8 {
			return v
		}
		return 1
	}
	return 1
}

// upright turns and mirrors a picture by its orientation.
func upright(src stdimage.Image, orientation int) stdimage.Image {
	if orientation <= 1 {
		return src
	}
	b := src.Bounds()
	w, h := b.Dx(), b.Dy()
	size := stdimage.Pt(w, h)
	if orientation >= 5 {
		size = stdimage.Pt(h, w)
	}
	out := stdimage.NewRGBA(stdimage.Rectangle{Max: size})
	for y := range h {
		for x := range w {
			to := turned(orientation, x, y, w, h)
			out.Set(to.X, to.Y, src.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	return out
}

// turned is where the pixel (x, y) of a w by h picture belongs.
func turned(orientation, x, y, w, h int) stdimage.Point {
	switch orientation {
	case 2:
		return stdimage.Pt(w-1-x, y)
	case 3:
		return stdimage.Pt(w-1-x, h-1-y)
	case 4:
		return stdimage.Pt(x, h-1-y)
	case 5:
		return stdimage.Pt(y, x)
	case 6:
		return stdimage.Pt(h-1-y, x)
	case 7:
		return stdimage.Pt(h-1-y, w-1-x)
	case 8:
		return stdimage.Pt(y, w-1-x)
	}
	return stdimage.Pt(x, y)
}
