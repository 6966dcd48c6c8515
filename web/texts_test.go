package web

import (
	"maps"
	"os"
	"testing"

	"marquee/testutil/golden"
)

// TestTheArchiveHoldsTheTexts: what the binary says of the API is what stands in the folders. UPDATE_GOLDEN=1 makes the
// archive anew.
func TestTheArchiveHoldsTheTexts(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, name := range []string{"docs", "mail", "openapi", "pages", "undo-email-change.html", "withdraw-tickets.html"} {
		maps.Copy(files, golden.FilesBelow(t, os.DirFS("."), name))
	}
	golden.Archive(t, "texts.zip", files)
}
