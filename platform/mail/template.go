package mail

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
)

// DefaultLanguage is what a message is written in when the recipient's language
// is not known or has no template.
const DefaultLanguage = "pt"

// Templates are the messages of the product: for each name and language a
// subject, a text and an HTML file, <name>.<language>.subject.tmpl, .txt.tmpl
// and .html.tmpl. They are written as for html/template, with less: values, if, with,
// range, and the functions and, eq, len and not; what is more is an error of ParseTemplates.
// Each shows .Brand besides its data: .Brand.Name, .Brand.Accent and, where there is a logo, .Brand.CID.
type Templates struct {
	files map[string]step
	brand func(context.Context) (Brand, error)
}

// Brand is what mails show of the platform.
type Brand struct {
	Name   string
	Accent string // #rrggbb, to be read on white
	Logo   []byte // PNG; nil: the name stands in its place
}

// defaultName is what a platform is called that has no name of its own.
const defaultName = "Marquee"

// marquee is the brand of a platform that has none of its own.
func marquee(context.Context) (Brand, error) { return Brand{Name: defaultName, Accent: "#2b59c3"}, nil }

// brandData is .Brand.
type brandData struct{ Name, Accent, CID string }

// logoCID names the logo inside a mail.
const logoCID = "logo"

// Branded has all mails show a brand, which is read for each.
func (t *Templates) Branded(by func(context.Context) (Brand, error)) *Templates {
	return &Templates{files: t.files, brand: by}
}

// ParseTemplates reads all templates in the folder.
func ParseTemplates(folder fs.FS) (*Templates, error) {
	names, err := fs.Glob(folder, "*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("mail templates: %w", err)
	}
	t := &Templates{files: make(map[string]step, len(names)), brand: marquee}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("mail templates: %w", err)
		}
		if t.files[name], err = compile(name, string(text)); err != nil {
			return nil, fmt.Errorf("mail templates: %w", err)
		}
	}
	return t, nil
}

// Render writes the named message for one recipient. The language is a tag such
// as "pt-BR"; only its first part counts. Data is a struct or a map; a field or key that it lacks is an error. The
// message holds the logo, where there is one: what else it shows is added. It is from the platform by its name, where
// that is its own: else the sender's stays as it is configured.
func (t *Templates) Render(ctx context.Context, name, language, to string, data any) (Message, error) {
	brand, err := t.brand(ctx)
	if err != nil {
		return Message{}, fmt.Errorf("render mail: %w", err)
	}
	m, base := Message{To: to}, name+"."+t.known(name, language)
	if brand.Name != defaultName {
		m.FromName = brand.Name
	}
	shown := brandData{Name: brand.Name, Accent: brand.Accent}
	if brand.Logo != nil {
		shown.CID = logoCID
		m.Inline = []Inline{{ID: logoCID, Name: "logo.png", ContentType: "image/png", Data: brand.Logo}}
	}
	for suffix, part := range map[string]*string{
		".subject.tmpl": &m.Subject, ".txt.tmpl": &m.Text, ".html.tmpl": &m.HTML,
	} {
		write, ok := t.files[base+suffix]
		if !ok {
			return Message{}, fmt.Errorf("render mail: there is no %s%s", base, suffix)
		}
		var out strings.Builder
		if err := write(&out, newScope(data, shown)); err != nil {
			return Message{}, fmt.Errorf("render mail: %s%s: %w", base, suffix, err)
		}
		*part = out.String()
	}
	m.Subject = strings.TrimSpace(m.Subject)
	return m, nil
}

func (t *Templates) known(name, language string) string {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	if t.files[name+"."+tag+".txt.tmpl"] != nil {
		return tag
	}
	return DefaultLanguage
}
