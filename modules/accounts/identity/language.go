package identity

import "golang.org/x/text/language"

// mailLanguages are those that web/mail has templates in; the first is the
// default.
var mailLanguages = language.NewMatcher([]language.Tag{language.Portuguese, language.English})

// LanguageOf picks the language of a user's mails from a tag or an
// Accept-Language header.
func LanguageOf(preferred string) string {
	tags, _, err := language.ParseAcceptLanguage(preferred)
	if err != nil || len(tags) == 0 {
		return "pt"
	}
	tag, _, _ := mailLanguages.Match(tags...)
	base, _ := tag.Base()
	return base.String()
}
