package files

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFilename bounds a stored name, in bytes.
const maxFilename = 255

// safeFilename makes a client's file name fit to be shown and saved: no folders,
// no control or invisible characters (right-to-left override among them), valid
// UTF-8, at most 255 bytes with its extension kept, never empty.
func safeFilename(name string) string {
	name = strings.ToValidUTF8(name, "")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			return -1
		}
		return r
	}, name)
	name = strings.Trim(name, " .")
	if len(name) > maxFilename {
		name = shorten(name)
	}
	if name == "" {
		return "file"
	}
	return name
}

// shorten cuts the middle out of a long name: people know a file by its
// extension.
func shorten(name string) string {
	ext := ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= 20 {
		name, ext = name[:i], name[i:]
	}
	end := maxFilename - len(ext)
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return strings.TrimRight(name[:end], " .") + ext
}

// disposition is the Content-Disposition of a name, after RFC 6266: an ASCII
// fallback for old readers and the name itself in UTF-8 (RFC 8187).
func disposition(kind, name string) string {
	var out strings.Builder
	out.WriteString(kind + `; filename="`)
	ascii := true
	for _, r := range name {
		switch {
		case r < ' ' || r > '~':
			ascii = false
			out.WriteByte('_')
		case r == '"' || r == '\\' || r == '%':
			ascii = false
			out.WriteByte('_')
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	if !ascii {
		out.WriteString("; filename*=UTF-8''")
		percentEncode(&out, name)
	}
	return out.String()
}

// percentEncode writes all bytes but RFC 8187's attr-char as %XX.
func percentEncode(out *strings.Builder, s string) {
	const hex = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			out.WriteByte(c)
			continue
		}
		out.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
}

// octets is the type of bytes that nothing is known of.
const octets = "application/octet-stream"

// inline are the types that a browser may show in place: raster images and PDF.
// SVG and HTML can carry scripts and are never among them.
var inline = []string{"image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "application/pdf"}

func isInline(contentType string) bool { return slices.Contains(inline, contentType) }

// contentType decides a file's type from its first bytes and what the client
// says. A type that is shown inline has to be proved by the content; a client
// that claims one without is not believed.
func contentType(head []byte, declared string) string {
	if sniffed := http.DetectContentType(head); isInline(sniffed) {
		return sniffed
	}
	media, _, err := mime.ParseMediaType(declared)
	if err != nil || isInline(media) || !strings.Contains(media, "/") || len(media) > maxFilename {
		return octets
	}
	return media
}
