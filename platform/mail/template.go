package mail

import (
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
type Templates struct {
	files map[string]step
}

// ParseTemplates reads all templates in the folder.
func ParseTemplates(folder fs.FS) (*Templates, error) {
	names, err := fs.Glob(folder, "*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("mail templates: %w", err)
	}
	t := &Templates{files: make(map[string]step, len(names))}
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
// as "pt-BR"; only its first part counts. Data is a struct or a map; a field or key that it lacks is an error.
func (t *Templates) Render(name, language, to string, data any) (Message, error) {
	m, base := Message{To: to}, name+"."+t.known(name, language)
	for suffix, part := range map[string]*string{
		".subject.tmpl": &m.Subject, ".txt.tmpl": &m.Text, ".html.tmpl": &m.HTML,
	} {
		write, ok := t.files[base+suffix]
		if !ok {
			return Message{}, fmt.Errorf("render mail: there is no %s%s", base, suffix)
		}
		var out strings.Builder
		if err := write(&out, newScope(data)); err != nil {
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
