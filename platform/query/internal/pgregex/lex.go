package pgregex

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// lexer copies a pattern token by token and rewrites what Go's parser lacks or reads
// differently from PCRE.
type lexer struct {
	rest     string
	extended bool // option x: white space and comments are dropped
	out      strings.Builder
	groups   int

	afterEscape bool // the last token is an escape
	afterParen  bool // the last token is an opening parenthesis
}

func lex(pattern string, extended bool) (string, error) {
	if strings.ContainsRune(pattern, 0) {
		return "", errNull
	}
	l := &lexer{rest: pattern, extended: extended}
	for l.rest != "" {
		if err := l.token(); err != nil {
			return "", err
		}
	}
	return l.out.String(), nil
}

var repetition = regexp.MustCompile(`^\{\d+(?:,\d*)?\}`)

func (l *lexer) token() error {
	if l.extended && l.skip() {
		return l.joint()
	}
	escape, paren := false, false
	switch l.rest[0] {
	case '\\':
		if err := l.escape(); err != nil {
			return err
		}
		escape = true
	case '[':
		if err := l.class(); err != nil {
			return err
		}
	case '{':
		// A brace that counts nothing is itself. Decided here, before x could join it
		// with what follows.
		if counted := repetition.FindString(l.rest); counted != "" {
			l.copy(len(counted))
		} else {
			l.put(`\{`, 1)
		}
	case '(':
		if err := l.open(); err != nil {
			return err
		}
		paren = true
	case ')':
		l.groups--
		l.copy(1)
	default:
		_, size := utf8.DecodeRuneInString(l.rest)
		l.copy(size)
	}
	l.afterEscape, l.afterParen = escape, paren
	return nil
}

func (l *lexer) copy(n int) { l.put(l.rest[:n], n) }

// put writes a token for the next n bytes of the pattern.
func (l *lexer) put(token string, n int) {
	l.out.WriteString(token)
	l.rest = l.rest[n:]
}

const whiteSpace = " \t\n\v\f\r"

// skip drops white space and comments, and reports whether there were any.
func (l *lexer) skip() bool {
	before := len(l.rest)
	for {
		l.rest = strings.TrimLeft(l.rest, whiteSpace)
		if !strings.HasPrefix(l.rest, "#") {
			return len(l.rest) < before
		}
		_, l.rest, _ = strings.Cut(l.rest, "\n")
	}
}

// joint keeps apart what dropped white space stood between: an escape and a digit
// would read as a longer escape, ( and ? as a group of another kind.
func (l *lexer) joint() error {
	if l.afterParen && strings.HasPrefix(l.rest, "?") {
		return errRepeat
	}
	if l.afterEscape && l.rest != "" && isAlphanumeric(l.rest[0]) {
		l.out.WriteString("(?:)")
	}
	return nil
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func (l *lexer) open() error {
	if l.groups++; l.groups > MaxGroups {
		return errTooDeep
	}
	for _, lookAround := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(l.rest, lookAround) {
			return errLookaround
		}
	}
	// The prefix goes in one piece, so that x does not look for comments inside it.
	if prefix := groupPrefix.FindString(l.rest); prefix != "" {
		if strings.HasSuffix(prefix, ")") {
			l.groups-- // options for the rest of the group, such as (?i)
		}
		l.copy(len(prefix))
		return nil
	}
	if strings.HasPrefix(l.rest, "(?") || strings.HasPrefix(l.rest, "(*") {
		return errPattern
	}
	l.copy(1)
	return nil
}

var groupPrefix = regexp.MustCompile(`^\(\?(?:P?<\w+>|[imsU-]*[:)])`)
