package httpapi

import (
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const rangeSentence = "The range is outside the file."

// ServeContent is http.ServeContent with the ranges of RFC 9110: the unit in any letter
// case, and units and ranges that it does not know or that are malformed are left aside.
// A range outside of the content is 416 in the contract's form, with Content-Range.
func ServeContent(w http.ResponseWriter, r *http.Request, changed time.Time, content io.ReadSeeker) {
	if header := r.Header.Get("Range"); header != "" {
		size, err := content.Seek(0, io.SeekEnd)
		if err != nil {
			size = 0 // which http.ServeContent finds as well
		}
		ranges, known := satisfiable(header, size)
		r = r.Clone(r.Context())
		switch {
		case !known:
			r.Header.Del("Range")
		case ranges == "":
			r.Header.Set("Range", "bytes="+strconv.FormatInt(size, 10)+"-")
			w = &outsideWriter{ResponseWriter: w}
		default:
			r.Header.Set("Range", "bytes="+ranges)
		}
	}
	http.ServeContent(w, r, "", changed, content)
}

// satisfiable are the ranges that hold something of the size, "" when none does; not
// known when the unit is another, or a range is malformed.
func satisfiable(header string, size int64) (ranges string, known bool) {
	unit, set, found := strings.Cut(header, "=")
	if !found || !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return "", false
	}
	var hold []string
	for _, one := range strings.Split(set, ",") {
		if one = strings.Trim(one, " \t"); one == "" {
			continue // lists may have empty elements
		}
		known = true
		from, to, dashed := strings.Cut(one, "-")
		first, firstOK := position(from)
		last, lastOK := position(to)
		switch {
		case !dashed || !firstOK || !lastOK || from == "" && to == "":
			return "", false
		case from == "":
			if last > 0 {
				hold = append(hold, "-"+strconv.FormatInt(last, 10))
			}
		case to != "" && last < first:
			return "", false
		case first < size && to == "":
			hold = append(hold, strconv.FormatInt(first, 10)+"-")
		case first < size:
			hold = append(hold, strconv.FormatInt(first, 10)+"-"+strconv.FormatInt(last, 10))
		}
	}
	return strings.Join(hold, ","), known
}

// position reads digits; what is beyond every content is as good as the last of all.
func position(digits string) (int64, bool) {
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		n = math.MaxInt64
	}
	return n, true
}

// outsideWriter gives a 416 the contract's body in the place of a plain text.
type outsideWriter struct {
	http.ResponseWriter
	outside bool
}

// WriteHeader implements http.ResponseWriter.
func (w *outsideWriter) WriteHeader(status int) {
	if status != http.StatusRequestedRangeNotSatisfiable {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.outside = true
	w.Header().Del("Content-Disposition")
	WriteJSON(w.ResponseWriter, status, &ErrorBody{Detail: rangeSentence})
}

// Write implements http.ResponseWriter.
func (w *outsideWriter) Write(p []byte) (int, error) {
	if w.outside {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the writer.
func (w *outsideWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
