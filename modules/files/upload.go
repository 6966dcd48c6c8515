package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/image"
)

const (
	// formField is the name of the part that holds the file.
	formField = "file"
	// formOverhead is how much of a multipart body may be something else.
	formOverhead = 256 << 10
	// drainBytes is how much of a body that is refused is still read, so that
	// the client gets to the answer.
	drainBytes = 16 << 20
	// storedSide bounds a stored image, in pixels a side. Nothing is shown wider
	// than 1,024, so this leaves room and keeps later scaling cheap.
	storedSide = 2048
)

// Image is an image received, checked and written anew without metadata, not
// stored yet.
type Image struct {
	Filename    string
	ContentType string
	data        []byte
}

func (i Image) reader() io.Reader { return bytes.NewReader(i.data) }

// ReceiveAttachment stores the part "file" of a multipart request as it comes
// in. Errors: 422 over MAX_ATTACHMENT_BYTES or for a malformed body, 415 for
// another content type.
func (s *Service) ReceiveAttachment(r *http.Request) (Upload, error) {
	ctx, limit := r.Context(), s.deps.Config.MaxAttachmentBytes
	tooLarge := fault.InvalidAt("is larger than "+megabytes(limit), "body", formField)
	var up Upload
	err := eachFile(r, limit, func(part *multipart.Part) (err error) {
		up, err = s.receive(ctx, s.deps.Pool, part.FileName(), part.Header.Get("Content-Type"), partReader{part}, limit)
		return err
	})
	if err != nil {
		if up.ID != "" {
			s.discard(ctx, s.deps.Pool, up.ID)
		}
		return Upload{}, receiveError(err, tooLarge)
	}
	return up, nil
}

// ReceiveImage takes the part "file" of a multipart request: a JPEG, PNG or WebP
// by its content, whatever it is called. Errors: 400 for another type, over
// MAX_IMAGE_BYTES or over 25 megapixels, 422 for a malformed body, 415 for
// another content type or an encoded body.
func (s *Service) ReceiveImage(r *http.Request) (Image, error) {
	ctx, limit := r.Context(), s.deps.Config.MaxImageBytes
	tooLarge := fault.BadRequest("The image is larger than %s.", megabytes(limit)).WithField(formField)
	var img Image
	err := eachFile(r, limit, func(part *multipart.Part) error {
		data, err := io.ReadAll(io.LimitReader(partReader{part}, limit+1))
		if err != nil {
			return err
		}
		if int64(len(data)) > limit {
			return errTooLarge
		}
		picture, err := s.images.Normalize(ctx, data, storedSide)
		if err != nil {
			return err
		}
		img = Image{
			Filename: safeFilename(part.FileName()), ContentType: picture.Format.ContentType(), data: picture.Data,
		}
		return nil
	})
	if err != nil {
		return Image{}, receiveError(err, tooLarge)
	}
	return img, nil
}

// eachFile gives the file part of a multipart request to f, and refuses a body
// with none or with two.
func eachFile(r *http.Request, limit int64, f func(*multipart.Part) error) error {
	if err := httpapi.RefuseEncoded(r); err != nil {
		return err
	}
	if r.ContentLength > limit+formOverhead {
		if r.Header.Get("Expect") == "" { // else the client waits for the answer before it sends
			drain(r.Body)
		}
		return errTooLarge
	}
	whole := r.Body
	r.Body = http.MaxBytesReader(nil, whole, limit+formOverhead)
	parts, err := r.MultipartReader()
	if errors.Is(err, http.ErrNotMultipart) {
		return &fault.Error{
			Kind: fault.KindUnsupported, Message: "The body has to be sent with Content-Type: multipart/form-data.",
		}
	}
	if err != nil {
		return errMalformed().WithCause(err)
	}
	found := false
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return broken(err)
		}
		if part.FormName() != formField {
			continue
		}
		if found {
			return fault.InvalidAt("is there twice", "body", formField)
		}
		found = true
		if err := f(part); err != nil {
			drain(whole)
			return err
		}
	}
	if !found {
		return fault.InvalidAt("is required", "body", formField)
	}
	// What follows the form is nobody's, but a body shorter than announced is broken.
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return broken(err)
	}
	return nil
}

// drain reads on for a while: a client that is cut off while it sends does not
// see the answer.
func drain(body io.Reader) { _, _ = io.CopyN(io.Discard, body, drainBytes) }

// errBroken marks what is wrong with the body, not with us.
var errBroken = errors.New("files: the body broke off or is malformed")

func broken(err error) error { return fmt.Errorf("%w: %w", errBroken, err) }

// partReader marks the errors of reading a part.
type partReader struct{ part *multipart.Part }

func (p partReader) Read(b []byte) (int, error) {
	n, err := p.part.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = broken(err)
	}
	return n, err
}

func errMalformed() *fault.Error { return fault.InvalidAt("is not a complete multipart form", "body") }

// receiveError tells the client's mistakes from ours.
func receiveError(err error, tooLarge *fault.Error) error {
	var known *fault.Error
	var overBody *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, errTooLarge), errors.As(err, &overBody):
		return tooLarge
	case errors.Is(err, image.ErrFormat):
		return fault.BadRequest("The image has to be a JPEG, PNG or WebP.").WithField(formField).WithCause(err)
	case errors.Is(err, image.ErrTooLarge):
		return fault.BadRequest("The image may have at most 25 megapixels and 12,000 pixels a side.").
			WithField(formField)
	case errors.Is(err, errBroken):
		if f := httpapi.BodyFault(err); f.Kind == fault.KindTimedOut {
			return f
		}
		return errMalformed().WithCause(err)
	}
	return err
}

func megabytes(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
