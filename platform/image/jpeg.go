package image

import (
	"bytes"
	"encoding/binary"
)

// Markers of a JPEG that matter here.
const (
	markerAPP1 = 0xe1
	markerEOI  = 0xd9 // end of the image
	markerSOS  = 0xda // start of a scan
)

// eachSegment walks the segments of a JPEG up to its end, past the coded pixels,
// until f returns false. What lies behind the image, such as the film of a
// "motion photo", is not looked at.
func eachSegment(data []byte, f func(marker byte, payload []byte) bool) {
	for at := 2; at+4 <= len(data); {
		marker := data[at+1]
		switch {
		case data[at] != 0xff || marker == 0 || marker >= 0xd0 && marker <= 0xd7: // coded pixels
			next := bytes.IndexByte(data[at+1:], 0xff)
			if next < 0 {
				return
			}
			at += 1 + next
			continue
		case marker == 0xff: // padding
			at++
			continue
		case marker == markerEOI:
			return
		}
		length := int(binary.BigEndian.Uint16(data[at+2:]))
		if length < 2 || at+2+length > len(data) || !f(marker, data[at+4:at+2+length]) {
			return
		}
		at += 2 + length
	}
}

// scans counts the passes over the pixels.
func scans(data []byte) (n int) {
	eachSegment(data, func(marker byte, _ []byte) bool {
		if marker == markerSOS {
			n++
		}
		return n <= maxScans
	})
	return n
}

// exifOf returns the TIFF structure in the first Exif segment.
func exifOf(data []byte) (tiff []byte) {
	eachSegment(data, func(marker byte, payload []byte) bool {
		if rest, ok := bytes.CutPrefix(payload, []byte("Exif\x00\x00")); ok && marker == markerAPP1 {
			tiff = rest
		}
		return tiff == nil && marker != markerSOS
	})
	return tiff
}
