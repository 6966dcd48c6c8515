package mail

import (
	"bytes"
	"fmt"
	htmltemplate "html/template"
	"io/fs"
	"strings"
	texttemplate "text/template"
)

// DefaultLanguage is what a message is written in when the recipient's language
// is not known or has no template.
const DefaultLanguage = "pt"

// Templates are the messages of the product: for each name and language a
// subject, a text and an HTML file, <name>.<language>.subject.tmpl, .txt.tmpl
// and .html.tmpl.
type Templates struct {
	text *texttemplate.Template
	html *htmltemplate.Template
}

// ParseTemplates reads all templates in the folder.
func ParseTemplates(folder fs.FS) (*Templates, error) {
	text, err := texttemplate.New("").Option("missingkey=error").ParseFS(folder, "*.subject.tmpl", "*.txt.tmpl")
	if err != nil {
		return nil, fmt.Errorf("mail templates: %w", err)
	}
	html, err := htmltemplate.New("").Option("missingkey=error").ParseFS(folder, "*.html.tmpl")
	if err != nil {
		return nil, fmt.Errorf("mail templates: %w", err)
	}
	return &Templates{text: text, html: html}, nil
}

// Render writes the named message for one recipient. The language is a tag such
// as "pt-BR"; only its first part counts.
func (t *Templates) Render(name, language, to string, data any) (Message, error) {
	base := name + "." + t.known(name, language)
	subject, err := t.renderText(base+".subject.tmpl", data)
	if err != nil {
		return Message{}, err
	}
	text, err := t.renderText(base+".txt.tmpl", data)
	if err != nil {
		return Message{}, err
	}
	var html bytes.Buffer
	if err := t.html.ExecuteTemplate(&html, base+".html.tmpl", data); err != nil {
		return Message{}, fmt.Errorf("render mail: %w", err)
	}
	return Message{To: to, Subject: strings.TrimSpace(subject), Text: text, HTML: html.String()}, nil
}

func (t *Templates) renderText(file string, data any) (string, error) {
	var out strings.Builder
	if err := t.text.ExecuteTemplate(&out, file, data); err != nil {
		return "", fmt.Errorf("render mail: %w", err)
	}
	return out.String(), nil
}

func (t *Templates) known(name, language string) string {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	if t.text.Lookup(name+"."+tag+".txt.tmpl") != nil {
		return tag
	}
	return DefaultLanguage
}
