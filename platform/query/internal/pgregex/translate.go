package pgregex

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// Limits of one pattern (docs/contract/filters.md, Bounds).
const (
	MaxPatternBytes = 512
	MaxGroups       = 32       // groups inside one another
	MaxCount        = 255      // in {n,m}; the limit of Postgres
	MaxCost         = 1000     // see cost
	MaxOutputBytes  = 16 << 10 // of the translated pattern
)

// Error is a sentence for the client, in our own words: neither the parser's nor the
// database's.
type Error string

func (e Error) Error() string { return string(e) }

const (
	errOption     = Error("unknown option")
	errTooLong    = Error("is too long")
	errTooDeep    = Error("is nested too deeply")
	errTooCostly  = Error("is too expensive")
	errCount      = Error("has a count that is above 255 or out of order")
	errLookaround = Error("look-around is not supported, negate with $not")
	errNull       = Error("holds a null character")
	errPattern    = Error("is not a supported pattern")
	errEscape     = Error("has an escape that is not supported")
	errClass      = Error("has a character class that is not valid")
	errParen      = Error("has an unbalanced parenthesis")
	errRepeat     = Error("has a repetition of nothing or of a repetition")
)

// Translate turns a pattern with the options i, m, s, x (and u, which changes
// nothing) into Postgres' dialect. Every error is an Error.
func Translate(pattern, options string) (string, error) {
	if strings.Trim(options, "imsxu") != "" {
		return "", errOption
	}
	if len(pattern) > MaxPatternBytes {
		return "", errTooLong
	}
	rewritten, err := lex(pattern, strings.Contains(options, "x"))
	if err != nil {
		return "", err
	}
	tree, err := syntax.Parse(rewritten, parseFlags(options))
	if err != nil {
		return "", patternError(err)
	}
	if c, err := cost(tree); err != nil {
		return "", err
	} else if c > MaxCost {
		return "", errTooCostly
	}
	out := write(tree)
	if len(out) > MaxOutputBytes {
		return "", errTooLong
	}
	return out, nil
}

func parseFlags(options string) syntax.Flags {
	flags := syntax.Perl
	if strings.Contains(options, "i") {
		flags |= syntax.FoldCase
	}
	if strings.Contains(options, "s") {
		flags |= syntax.DotNL
	}
	if strings.Contains(options, "m") {
		flags &^= syntax.OneLine
	}
	return flags
}

func patternError(err error) Error {
	var parse *syntax.Error
	if !errors.As(err, &parse) {
		return errPattern
	}
	switch parse.Code {
	case syntax.ErrInvalidEscape, syntax.ErrTrailingBackslash:
		return errEscape
	case syntax.ErrInvalidCharClass, syntax.ErrInvalidCharRange, syntax.ErrMissingBracket:
		return errClass
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return errParen
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		return errRepeat
	case syntax.ErrInvalidRepeatSize:
		return errCount
	case syntax.ErrNestingDepth:
		return errTooDeep
	case syntax.ErrLarge:
		return errTooCostly
	}
	return errPattern
}
