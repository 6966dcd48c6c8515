// Package web holds everything that a browser or a mail reader shows.
package web

import (
	"embed"
	"io/fs"
)

// DocsPage is the HTML of GET /api/v1/docs. It carries its own script and style,
// so that it works without the internet.
//
//go:embed docs.html
var DocsPage []byte

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
