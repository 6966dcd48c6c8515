package export

import (
	"archive/zip"
	"compress/flate"
	"io"
)

// newZip compresses for speed: the rows of a table are alike, so that a higher
// level takes twice the time for a file hardly smaller.
func newZip(out io.Writer) *zip.Writer {
	w := zip.NewWriter(out)
	w.RegisterCompressor(zip.Deflate,
		func(part io.Writer) (io.WriteCloser, error) { return flate.NewWriter(part, flate.BestSpeed) })
	return w
}
