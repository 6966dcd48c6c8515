package mail_test

import (
	"bytes"
	"context"
	"errors"
	htmltemplate "html/template"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	texttemplate "text/template"

	"github.com/stretchr/testify/require"

	"marquee/platform/mail"
	"marquee/web"
)

// TestMailsAreThoseOfGosTemplates: each mail of the product, in each language, is byte by byte what text/template and
// html/template make of it, whatever people call themselves and their events.
func TestMailsAreThoseOfGosTemplates(t *testing.T) {
	t.Parallel()
	ours, err := mail.ParseTemplates(web.Mail())
	require.NoError(t, err)
	text := texttemplate.Must(texttemplate.New("").Option("missingkey=error").ParseFS(web.Mail(), "*.subject.tmpl", "*.txt.tmpl"))
	html := htmltemplate.Must(htmltemplate.New("").Option("missingkey=error").ParseFS(web.Mail(), "*.html.tmpl"))
	random := rand.New(rand.NewPCG(41, 1))
	files, err := fs.Glob(web.Mail(), "*.txt.tmpl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name, rest, _ := strings.Cut(file, ".")
		language, _, _ := strings.Cut(rest, ".")
		for range 100 {
			data := hostileData(random)
			if name == "payment-failed" { // where it is no code but whether one pays by PIX
				data["Pix"] = random.IntN(2) == 0
			}
			ours := ours.Branded(func(context.Context) (mail.Brand, error) {
				shown := data["Brand"].(map[string]string)
				brand := mail.Brand{Name: shown["Name"], Accent: shown["Accent"]}
				if shown["CID"] != "" {
					brand.Logo = []byte("png")
				}
				return brand, nil
			})
			m, err := ours.Render(t.Context(), name, language, "ana@example.com", data)
			require.NoError(t, err, "%s with %v", file, data)
			var want bytes.Buffer
			require.NoError(t, text.ExecuteTemplate(&want, name+"."+language+".subject.tmpl", data))
			require.Equal(t, strings.TrimSpace(want.String()), m.Subject)
			want.Reset()
			require.NoError(t, text.ExecuteTemplate(&want, file, data))
			require.Equal(t, want.String(), m.Text)
			want.Reset()
			require.NoError(t, html.ExecuteTemplate(&want, name+"."+language+".html.tmpl", data))
			require.Equal(t, want.String(), m.HTML)
		}
	}
}

// hostileData is all that any mail shows; what is not known here a new mail adds.
func hostileData(random *rand.Rand) map[string]any {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	text := func() string {
		return pick("", "Ana", `"><script>alert(1)</script>`, "O'Neill & Söhne + 1", "javascript:alert(1)", "{{.Code}}",
			"<b>\u2028\x00</b>", "a\xffb`&amp;")
	}
	link := func() string {
		return pick("https://api.example.com/api/v1/undo?a=1&b=%2F#66f0.6a-0b_~mac", "http://127.0.0.1:8080/x+y")
	}
	data := map[string]any{"Minutes": random.IntN(3), "Days": random.IntN(3), "Link": pick("", link()), "Links": []string(nil)}
	for _, key := range []string{"Name", "Event", "Total", "Date", "Code", "Location", "New", "Plan", "Until", "End", "Reason"} {
		data[key] = text()
	}
	for _, key := range []string{
		"Reminder", "Changed", "Free", "All", "WithUsername", "OtherUsername", "Used", "Suspended", "Disputed", "CalledOff",
		"Again",
	} {
		data[key] = random.IntN(2) == 0
	}
	if random.IntN(2) == 0 {
		data["Links"] = []string{link(), link()}
	}
	data["Pix"] = &struct{ Payload, CID, Until string }{text(), "pix.66f0a1b2c3d4", text()}
	data["Old"] = &struct{ Date, End, Location string }{text(), text(), text()}
	data["Brand"] = map[string]string{"Name": text(), "Accent": pick("#2b59c3", text()), "CID": pick("", "logo")}
	var tickets []map[string]any
	for n := range random.IntN(3) {
		tickets = append(tickets, map[string]any{"Number": n + 1, "CID": "ticket66f0a1b2c3d4", "Code": text()})
	}
	data["Tickets"] = tickets
	return data
}

// TestLinksInMailsAreLinks: a value in an address of HTML is a link of the web or of mail, or it is not written.
func TestLinksInMailsAreLinks(t *testing.T) {
	t.Parallel()
	write := func(html, value string) (string, error) {
		t.Helper()
		templates, err := mail.ParseTemplates(fstest.MapFS{
			"hi.pt.subject.tmpl": &fstest.MapFile{}, "hi.pt.txt.tmpl": &fstest.MapFile{},
			"hi.pt.html.tmpl": {Data: []byte(html)},
		})
		require.NoError(t, err)
		m, err := templates.Render(t.Context(), "hi", "pt", "ana@example.com", map[string]string{"V": value})
		return m.HTML, err
	}
	for _, bad := range []string{
		"javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "data:text/html,x", "//example.com", "",
		`https://example.com/"><script>`, "https://example.com/'onclick=", "https://example.com/%zz", "https://a b",
	} {
		for _, html := range []string{`<a href="{{.V}}">x</a>`, `<img src="{{.V}}">`} {
			_, err := write(html, bad)
			require.ErrorContains(t, err, "not a link", bad)
			require.NotContains(t, err.Error(), "example.com", "it may hold a token")
		}
	}
	for _, bad := range []string{"a/b", "a?b", `"`, "a:b", "%41", "a&b"} {
		_, err := write(`<img src="cid:{{.V}}">`, bad)
		require.ErrorContains(t, err, "not a link", bad)
	}
	got, err := write(`<a title="{{.V}}" href="https://example.com/a>b">{{.V}}</a>`, `"><script>+`)
	require.NoError(t, err)
	require.Equal(t, `<a title="&#34;&gt;&lt;script&gt;&#43;" href="https://example.com/a>b">&#34;&gt;&lt;script&gt;&#43;</a>`, got)
}

// TestTemplatesOfMoreAreRefused: what a template may not hold is told when it is read, not when a mail is written.
func TestTemplatesOfMoreAreRefused(t *testing.T) {
	t.Parallel()
	for html, why := range map[string]string{
		`<a href={{.V}}>x</a>`:                              "double quotes",
		`<a href='{{.V}}'>x</a>`:                            "double quotes",
		`<a {{.V}}>x</a>`:                                   "double quotes",
		`<{{.V}}>`:                                          "double quotes",
		`<p style="color:{{.V}}">`:                          "no value stands in style",
		`<p onclick="{{.V}}">`:                              "no value stands in onclick",
		`<SCRIPT>{{.V}}</SCRIPT>`:                           "not known here",
		`<style>{{.V}}</style>`:                             "not known here",
		`<!-- {{.V}} -->`:                                   "not known here",
		`<a href="{{if .V}}https:{{end}}{{.V}}">x</a>`:      "between tags",
		`{{if .V}}<a href="{{else}}<p>{{end}}{{.V}}">x</a>`: "between tags",
		`{{range .V}}<p {{end}}`:                            "between tags",
		`<a href="{{.V}}`:                                   "not closed",
		`{{.V | len}}`:                                      "pipes",
		`{{$v := .V}}`:                                      "variables",
		`{{.V.Format "2006"}}`:                              "methods",
		`{{define "other"}}x{{end}}`:                        "define",
		`{{template "other"}}`:                              "not known here",
		`{{eq .V}}`:                                         "takes 2",
		`{{printf .V}}`:                                     "not defined",
		`{{if .V}}`:                                         "unexpected EOF",
		`{{range .V}}{{break}}{{end}}`:                      "not known here",
		`{{eq .V "x"}}`:                                     "not known here",
		`<a href="https://example.com/{{with .V}}x{{end}}">`: "between tags",
	} {
		_, err := mail.ParseTemplates(fstest.MapFS{"hi.pt.html.tmpl": {Data: []byte(html)}})
		require.ErrorContains(t, err, why, html)
		require.ErrorContains(t, err, "hi.pt.html.tmpl", html)
	}
}

// TestWhatDataLacksIsAnError, and what cannot be shown.
func TestWhatDataLacksIsAnError(t *testing.T) {
	t.Parallel()
	write := func(text string, data any) error {
		t.Helper()
		templates, err := mail.ParseTemplates(fstest.MapFS{
			"hi.pt.subject.tmpl": &fstest.MapFile{}, "hi.pt.txt.tmpl": {Data: []byte(text)}, "hi.pt.html.tmpl": &fstest.MapFile{},
		})
		require.NoError(t, err)
		_, err = templates.Render(t.Context(), "hi", "pt", "ana@example.com", data)
		return err
	}
	type pix struct{ Code string }
	data := struct {
		Name   string
		hidden string
		Pix    *pix
		Odd    float64
	}{Name: "Ana", hidden: "x"}
	require.NoError(t, write("{{.Name}}{{with .Pix}}{{.Code}}{{end}}", data))
	for text, why := range map[string]string{
		"{{.Nmae}}":                    "there is no .Nmae",
		"{{if .Nmae}}{{end}}":          "there is no .Nmae",
		"{{.hidden}}":                  "there is no .hidden",
		"{{.Pix.Code}}":                "there is no .Pix.Code",
		"{{.Name.First}}":              "there is no .Name.First",
		"{{.Pix}}":                     "neither text nor a whole number",
		"{{.Odd}}":                     "neither text nor a whole number",
		"{{range .Name}}{{end}}":       "not a list",
		"{{len .Name}}":                "not a list",
		"{{if eq .Name 1}}{{end}}":     "whole numbers",
		"{{with .Name}}{{$.X}}{{end}}": "there is no .X",
	} {
		err := write(text, data)
		require.ErrorContains(t, err, why, text)
		require.ErrorContains(t, err, "hi.pt.txt.tmpl", text)
	}
	require.ErrorContains(t, write("{{.Name}}", map[string]string{}), "there is no .Name")
	templates, err := mail.ParseTemplates(fstest.MapFS{})
	require.NoError(t, err)
	_, err = templates.Render(t.Context(), "hi", "pt", "ana@example.com", nil)
	require.ErrorContains(t, err, "there is no hi.pt.")
}

// TestMailsShowTheBrand: its name, or its logo where there is one, and its accent, wherever in a template they stand.
func TestMailsShowTheBrand(t *testing.T) {
	t.Parallel()
	templates, err := mail.ParseTemplates(fstest.MapFS{
		"hi.pt.subject.tmpl": &fstest.MapFile{},
		"hi.pt.txt.tmpl":     {Data: []byte("{{with .Name}}{{.}} of {{$.Name}}{{end}}, {{.Brand.Name}}")},
		"hi.pt.html.tmpl":    {Data: []byte(`<td bgcolor="{{.Brand.Accent}}">{{with .Name}}{{.Brand.CID}}{{end}}</td>`)},
	})
	require.NoError(t, err)
	data := map[string]string{"Name": "Ana"}
	m, err := templates.Render(t.Context(), "hi", "pt", "ana@example.com", data)
	require.NoError(t, err)
	require.Equal(t, "Ana of Ana, Marquee", m.Text)
	require.Equal(t, `<td bgcolor="#2b59c3"></td>`, m.HTML)
	require.Empty(t, m.Inline)

	brand := mail.Brand{Name: `Cine "Sol"`, Accent: "#0a6b3d", Logo: []byte("png")}
	branded := templates.Branded(func(context.Context) (mail.Brand, error) { return brand, nil })
	m, err = branded.Render(t.Context(), "hi", "pt", "ana@example.com", data)
	require.NoError(t, err)
	require.Equal(t, `Ana of Ana, Cine "Sol"`, m.Text)
	require.Equal(t, `<td bgcolor="#0a6b3d">logo</td>`, m.HTML)
	require.Equal(t, []mail.Inline{{ID: "logo", Name: "logo.png", ContentType: "image/png", Data: brand.Logo}}, m.Inline)

	lost := templates.Branded(func(context.Context) (mail.Brand, error) { return brand, errors.New("away") })
	_, err = lost.Render(t.Context(), "hi", "pt", "ana@example.com", data)
	require.ErrorContains(t, err, "away")
}
