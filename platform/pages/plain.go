package pages

import (
	"io/fs"
	"net/http"
	"regexp"
	"strings"

	"golang.org/x/text/language"

	"marquee/platform/httpapi"
)

// languages are those of the plain pages, the first for whoever asks for none of them.
var languages = []string{"en", "pt"}

var matcher = language.NewMatcher([]language.Tag{language.English, language.Portuguese})

// translated is a plain page in each of the languages. It is one file, with its style and
// script, so that it is whole wherever and whenever it is shown.
type translated []plainPage

type plainPage struct {
	file   *file
	policy string
}

// translate reads a page in all languages; what stands between <!--name--> and <!--/name--> is
// left out where cuts has false for the name.
func translate(dir fs.FS, name string, cuts map[string]bool) (translated, error) {
	style, err := fs.ReadFile(dir, "plain.css")
	if err != nil {
		return nil, err
	}
	script, err := fs.ReadFile(dir, "home.js")
	if err != nil {
		return nil, err
	}
	var all translated
	for _, lang := range languages {
		source, err := fs.ReadFile(dir, name+"."+lang+".html")
		if err != nil {
			return nil, err
		}
		text := strings.NewReplacer(
			"<style></style>", "<style>"+string(style)+"</style>",
			"<script></script>", "<script>"+string(script)+"</script>",
		).Replace(string(source))
		for part, stays := range cuts {
			if !stays {
				between := regexp.MustCompile(`(?s)<!--` + part + `-->.*<!--/` + part + `-->\n?`)
				text = between.ReplaceAllString(text, "")
			}
		}
		body := []byte(text)
		all = append(all, plainPage{newFile("page.html", body), httpapi.InlinePolicy(body)})
	}
	return all, nil
}

func (t translated) write(w http.ResponseWriter, r *http.Request, status int) {
	_, i := language.MatchStrings(matcher, r.Header.Get("Accept-Language"))
	w.Header().Add("Vary", "Accept-Language")
	w.Header().Set("Content-Language", languages[i])
	t[i].file.write(w, r, t[i].policy, status)
}
