package mail

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// htmlContext is where in an HTML file a value stands, which decides how it is escaped. The nil one is in plain text,
// where nothing is. What it does not know it refuses when the file is read.
type htmlContext struct {
	inTag, inValue bool
	begun          bool   // the attribute's value has begun
	tag            []byte // what was read of the tag, without values
}

var (
	// Their content has rules of its own.
	refusedTags = regexp.MustCompile(`(?i)<(!--|script|style|textarea)`)
	attribute   = regexp.MustCompile(`\s([a-z-]+)=$`)

	// What stays as it is in an address: a whole one, and what follows its beginning. A link of another scheme, such as
	// javascript:, is none.
	link     = regexp.MustCompile(`^(https?://|mailto:)([A-Za-z0-9\-._~!#$&*+,/:;=?@\[\]]|%[0-9A-Fa-f]{2})*$`)
	linkPart = regexp.MustCompile(`^[A-Za-z0-9\-._~]*$`)

	// As html/template does it, in text as between double quotes.
	htmlEscapes = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;",
		"<", "&lt;", ">", "&gt;")

	textAttributes = []string{"alt", "bgcolor", "title"}
	linkAttributes = []string{"href", "src"}
)

// read goes on over text of the file.
func (c *htmlContext) read(text string) error {
	if c == nil {
		return nil
	}
	if tag := refusedTags.FindString(text); tag != "" {
		return fmt.Errorf("%s is not known here", tag)
	}
	for _, b := range []byte(text) {
		switch {
		case c.inValue && b == '"':
			c.inValue = false
		case c.inValue:
			c.begun = true
		case c.inTag && b == '"':
			c.inValue, c.begun = true, false
		case c.inTag && b == '\'':
			return errors.New("values of attributes stand between double quotes")
		case c.inTag && b == '>':
			c.inTag = false
		case c.inTag:
			c.tag = append(c.tag, b)
		case b == '<':
			c.inTag, c.tag = true, c.tag[:0]
		}
	}
	return nil
}

func (c *htmlContext) betweenTags() bool { return c == nil || !c.inTag }

// escaper is how the value is escaped that stands here.
func (c *htmlContext) escaper() (func(string) (string, error), error) {
	if c == nil {
		return func(s string) (string, error) { return s, nil }, nil
	}
	escape := func(s string) (string, error) { return htmlEscapes.Replace(s), nil }
	if !c.inTag {
		return escape, nil
	}
	name := attribute.FindSubmatch(c.tag)
	if !c.inValue || name == nil {
		return nil, errors.New("in a tag values stand between the double quotes of an attribute")
	}
	if slices.Contains(textAttributes, string(name[1])) {
		return escape, nil
	}
	if !slices.Contains(linkAttributes, string(name[1])) {
		return nil, fmt.Errorf("no value stands in %s", name[1])
	}
	valid := link
	if c.begun {
		valid = linkPart
	}
	c.begun = true
	return func(s string) (string, error) {
		if !valid.MatchString(s) {
			return "", errors.New("not a link") // which is not told: it may hold a token
		}
		return escape(s)
	}, nil
}
