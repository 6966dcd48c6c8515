// Package web holds everything that a browser or a mail reader shows.
package web

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed docs
var docs embed.FS

// DocsPage is the HTML of GET /api/v1/docs. It carries its own script and style,
// so that it works without the internet.
var DocsPage = whole(docs, "docs/page.html", "docs/style.css", "docs/schema.js", "docs/try.js", "docs/docs.js")

// whole is a page with its style and scripts, in their order, in it.
func whole(files embed.FS, page, style string, scripts ...string) []byte {
	read := func(name string) string {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // only for a name that is not there
		}
		return string(text)
	}
	var script strings.Builder
	for _, name := range scripts {
		script.WriteString(read(name))
	}
	return []byte(strings.NewReplacer("<style></style>", "<style>"+read(style)+"</style>",
		"<script></script>", "<script>"+script.String()+"</script>").Replace(read(page)))
}

// UndoPage is the HTML of GET /api/v1/auth/undo-email-change, to which mails link. It
// too carries its own script and style.
//
//go:embed undo-email-change.html
var UndoPage []byte

//go:embed mail/*.tmpl
var mailFiles embed.FS

// Mail is the folder of the mail templates, for mail.ParseTemplates.
func Mail() fs.FS { return below(mailFiles, "mail") }

// dist is kept by the repository, so that nobody needs Node to build the binary.
//
//go:embed all:dist
var dist embed.FS

// Dist is the folder of the front ends, as pages.Config has it.
func Dist() fs.FS { return below(dist, "dist") }

//go:embed pages
var plain embed.FS

// Plain is the folder of the pages that need no front end, for pages.Config.
func Plain() fs.FS { return below(plain, "pages") }

//go:embed openapi
var texts embed.FS

// OpenAPI is the folder of what the OpenAPI document says of each operation, for
// openapi.ReadTexts.
func OpenAPI() fs.FS { return below(texts, "openapi") }

func below(files embed.FS, dir string) fs.FS {
	folder, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // only for a malformed name
	}
	return folder
}

// WithdrawalPage is the HTML of GET /api/v1/store/ticket-orders/withdraw, to which mails
// about tickets link, made as UndoPage.
//
//go:embed withdraw-tickets.html
var WithdrawalPage []byte
