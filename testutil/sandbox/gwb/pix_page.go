package gwb

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/skip2/go-qrcode"

	"marquee/testutil/sandbox/stage"
)

const qrPixels = 300

var pixPage = template.Must(template.New("pix").
	Parse(`<!doctype html><html lang="pt-BR"><meta charset="utf-8"><title>PIX</title>
<h1>Pague com PIX</h1><p><img src="/pix/{{.ID}}.png" alt="QR" width="300" height="300"><p><code>{{.Code}}</code></html>
`))

// servePIX serves what next_action links to: /pix/{id} as a page, .png and .svg as images. 404 when no code is shown
// (any more).
func (g *Gateway) servePIX(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/pix/")
	id, kind, _ := strings.Cut(name, ".")
	g.stage.Lock()
	code := ""
	if p := g.ledger.PendingPIX(id); p != nil {
		code = p.PIXCode
	}
	g.stage.Unlock()
	if code == "" {
		http.NotFound(w, r)
		return
	}
	switch kind {
	case "png":
		png, err := stage.QRPNG(code, qrPixels)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(png) //nolint:gosec // a picture, as its header says
	case "svg":
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(qrSVG(code)))
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = pixPage.Execute(w, map[string]string{"ID": id, "Code": code})
	}
}

// qrSVG draws one unit square a dark module.
func qrSVG(code string) string {
	qr, err := qrcode.New(code, qrcode.Medium)
	if err != nil {
		return ""
	}
	rows := qr.Bitmap()
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges"><path d="`, len(rows),
		len(rows))
	for y, row := range rows {
		for x, dark := range row {
			if dark {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x, y)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String()
}
