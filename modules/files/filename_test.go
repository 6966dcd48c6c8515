package files_test

import (
	"mime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"marquee/modules/files"
)

// nameIn reads the file name back as a browser would.
func nameIn(t testing.TB, disposition string) string {
	t.Helper()
	kind, params, err := mime.ParseMediaType(disposition)
	require.NoError(t, err, "%q", disposition)
	require.Contains(t, []string{"attachment", "inline"}, kind)
	return params["filename"]
}

func TestDisposition(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"plain.txt":       `attachment; filename="plain.txt"`,
		"with space.txt":  `attachment; filename="with space.txt"`,
		`quo"te\.txt`:     `attachment; filename="quo_te_.txt"; filename*=UTF-8''quo%22te%5C.txt`,
		"ação.pdf":        `attachment; filename="a__o.pdf"; filename*=UTF-8''a%C3%A7%C3%A3o.pdf`,
		"100%.txt":        `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`,
		"it's (1); x.txt": `attachment; filename="it's (1); x.txt"`,
	} {
		require.Equal(t, want, files.Disposition("attachment", name))
	}
}

func FuzzFilename(f *testing.F) {
	for _, seed := range []string{
		"a.txt", "../x", "\u202e", "é\r\n\"\\%", strings.Repeat("ü", 400), "\xff", ".", "a/b\\c",
		"x." + strings.Repeat("y", 300),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		name := files.SafeFilename(given)
		require.True(t, utf8.ValidString(name))
		require.NotEmpty(t, name)
		require.LessOrEqual(t, len(name), 255)
		require.NotContains(t, name, "/")
		require.NotContains(t, name, `\`)
		require.NotContains(t, []string{".", ".."}, name)
		for _, r := range name {
			require.False(t, unicode.IsControl(r) || unicode.Is(unicode.Cf, r), "%q", name)
		}
		require.Equal(t, name, files.SafeFilename(name), "safe names stay as they are")
		header := files.Disposition("attachment", name)
		for i := range len(header) {
			require.True(t, header[i] >= ' ' && header[i] <= '~', "%q", header)
		}
		require.Equal(t, name, nameIn(t, header))
	})
}

func TestContentType(t *testing.T) {
	t.Parallel()
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	for name, c := range map[string]struct{ head, declared, want string }{
		"PNG whatever it says":   {"\x89PNG\r\n\x1a\n....", "text/html", "image/png"},
		"SVG that says PNG":      {svg, "image/png", "application/octet-stream"},
		"SVG that says SVG":      {svg, "image/svg+xml", "image/svg+xml"},
		"HTML that says PDF":     {"<html>", "application/pdf", "application/octet-stream"},
		"HTML behind a GIF head": {"GIF89a/*<script>*/", "text/html", "image/gif"},
		"nothing said":           {"hello", "", "application/octet-stream"},
		"nonsense said":          {"hello", "a b/c\r\nX: y", "application/octet-stream"},
		"no slash":               {"hello", "plain", "application/octet-stream"},
		"with a parameter":       {"hello", "text/plain; charset=utf-8", "text/plain"},
		"over-long":              {"hello", "text/" + strings.Repeat("x", 300), "application/octet-stream"},
	} {
		require.Equal(t, c.want, files.ContentType([]byte(c.head), c.declared), name)
	}
}
