// Package web holds everything that a browser or a mail reader shows.
package web

import (
	"archive/zip"
	"bytes"
	"embed"
	"io/fs"
	"strings"
)

// DocsPage is the HTML of GET /api/v1/docs. It carries its own script and style,
// so that it works without the internet.
var DocsPage = whole(texts(), "docs/page.html", "docs/style.css", "docs/schema.js", "docs/try.js", "docs/docs.js")

// whole is a page with its style and scripts, in their order, in it.
func whole(files fs.FS, page, style string, scripts ...string) []byte {
	read := func(name string) string { return string(mustRead(files, name)) }
	var script strings.Builder
	for _, name := range scripts {
		script.WriteString(read(name))
	}
	return []byte(strings.NewReplacer("<style></style>", "<style>"+read(style)+"</style>",
		"<script></script>", "<script>"+script.String()+"</script>").Replace(read(page)))
}

func mustRead(files fs.FS, name string) []byte {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // only for a name that is not there
	}
	return text
}

func page(name string) []byte { return mustRead(texts(), name) }

// UndoPage is the HTML of GET /api/v1/auth/undo-email-change, to which mails link. It
// too carries its own script and style.
var UndoPage = page("undo-email-change.html")

// Mail is the folder of the mail templates, for mail.ParseTemplates.
func Mail() fs.FS { return below(texts(), "mail") }

// dist is kept by the repository, so that nobody needs Node to build the binary.
//
//go:embed all:dist
var dist embed.FS

// Dist is the folder of the front ends, as pages.Config has it.
func Dist() fs.FS { return below(dist, "dist") }

// Plain is the folder of the pages that need no front end, for pages.Config.
func Plain() fs.FS { return below(texts(), "pages") }

// OpenAPI is the folder of the texts and examples of the API's document, for openapi.ReadTexts.
func OpenAPI() fs.FS { return below(texts(), "openapi") }

//go:embed texts.zip
var archived []byte

// texts are the folders docs, mail, openapi and pages and the pages beside them, which the binary holds compressed:
// `make generate` makes the archive of them.
func texts() fs.FS {
	archive, err := zip.NewReader(bytes.NewReader(archived), int64(len(archived)))
	if err != nil {
		panic(err) // only for an archive that is none
	}
	return archive
}

func below(files fs.FS, dir string) fs.FS {
	folder, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // only for a malformed name
	}
	return folder
}

// WithdrawalPage is the HTML of GET /api/v1/store/ticket-orders/withdraw, to which mails
// about tickets link, made as UndoPage.
var WithdrawalPage = page("withdraw-tickets.html")
