package query_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/query"
)

// tokens are all that the SQL of a filter or a sort over c may consist of: the fixed
// words of the shapes, the registry's expressions, and numbered placeholders.
func tokens(c *query.Collection) *regexp.Regexp {
	fixed := []string{
		"TRUE", "FALSE", "AND", "OR", "IS", "NOT", "NULL", "EXISTS", "SELECT", "FROM", "WHERE", "UNION", "ALL", "ANY",
		"IN", "AS", "COLLATE", `"C"`, "CASE", "WHEN", "THEN", "ELSE", "END", "ASC", "DESC", "NULLS", "FIRST", "LAST",
		"unnest", "cardinality", "mod", "trunc", "min", "max", "jsonb_path_query", "jsonb_array_elements",
		"jsonb_typeof", "e(v)", "e.v", "x(v)", "x.v", `'{}'`, "'number'", "'string'", "'object'", "'array'",
		"'boolean'", "|| ''", "::numeric", "100", "0", "1", "2", "3", "4", "5", "7", "(", ")", "[", "]", ",", " ",
		"=", "<", ">", "<=", ">=", "@>", "&&", "@@", "#>", "#>>", "->", "~", "%", "/",
	}
	var forms []string
	for _, word := range fixed {
		forms = append(forms, regexp.QuoteMeta(word))
	}
	for _, f := range c.Fields {
		forms = append(forms, regexp.QuoteMeta(f.Expr))
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	forms = append([]string{
		`\$[0-9]+::(?:text|bigint|int|boolean|timestamptz|jsonpath|jsonb)(?:\[\])?(?:::numeric(?:\[\])?)?`,
		`[om][0-9]{1,2}(?:\(v\)|\.v)`,
	}, forms...)
	return regexp.MustCompile(`^(?:` + strings.Join(forms, "|") + `)+$`)
}

var placeholder = regexp.MustCompile(`\$([0-9]+)`)

// requireSafe checks SQL that was numbered from first.
func requireSafe(t *testing.T, allowed *regexp.Regexp, sql string, args []any, first int) {
	t.Helper()
	require.Regexp(t, allowed, sql)
	used := map[int]bool{}
	for _, m := range placeholder.FindAllStringSubmatch(sql, -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		used[n] = true
	}
	require.Len(t, used, len(args), sql)
	for i := range args {
		require.True(t, used[first+i], "no $%d in %s", first+i, sql)
	}
	require.Equal(t, strings.Count(sql, "("), strings.Count(sql, ")"))
}

func FuzzFilter(f *testing.F) {
	for _, v := range vectors.Cases {
		f.Add(string(v.Query)+v.Raw, 1)
	}
	for i, text := range goldenFilters {
		f.Add(text, i)
	}
	allowed := map[*query.Collection]*regexp.Regexp{
		videos: tokens(videos), webhookLogs: tokens(webhookLogs), things: tokens(things),
	}
	f.Fuzz(func(t *testing.T, text string, first int) {
		first = 1 + first&0xFF
		for c, allowed := range allowed {
			compiled, err := query.Compile(c, text, first)
			again, _ := query.Compile(c, text, first)
			require.Equal(t, compiled, again)
			if err != nil {
				requireRefusal(t, err)
				continue
			}
			requireSafe(t, allowed, compiled.SQL, compiled.Args, first)
			if compiled.SQL != "TRUE" && compiled.SQL != "FALSE" {
				require.True(t, strings.HasPrefix(compiled.SQL, "(") && strings.HasSuffix(compiled.SQL, ")"))
			}
		}
	})
}

func FuzzSort(f *testing.F) {
	for _, v := range vectors.Cases {
		f.Add(string(v.Sort), 1)
	}
	for i, text := range goldenSorts {
		f.Add(text, i)
	}
	allowed := tokens(things)
	f.Fuzz(func(t *testing.T, text string, first int) {
		first = 1 + first&0xFF
		compiled, err := query.CompileSort(things, text, first)
		again, _ := query.CompileSort(things, text, first)
		require.Equal(t, compiled, again)
		if err != nil {
			requireRefusal(t, err)
			return
		}
		requireSafe(t, allowed, compiled.SQL, compiled.Args, first)
		require.Regexp(t, `t\.id (ASC|DESC)$`, compiled.SQL)
	})
}

func requireRefusal(t *testing.T, err error) {
	t.Helper()
	var refused *query.Error
	require.ErrorAs(t, err, &refused)
	require.NotContains(t, refused.Message, "\n")
	require.Less(t, len(refused.Message), 32*400)
}

// Whatever a client writes, in keys, values, paths, patterns or operators, none of it
// reaches the SQL text.
func TestCompile_noClientBytes(t *testing.T) {
	t.Parallel()
	paths := slices.Sorted(maps.Keys(things.Fields))
	for i := range 20 {
		mark := fmt.Sprintf("zq%dqz", i*7919)
		for _, path := range append(paths, "tags.0", "doc."+mark, "doc."+mark+".0", mark, "s."+mark) {
			for _, operand := range []string{
				`"%s"`, `{"$ne":"%s"}`, `{"$in":["%s",{"$regex":"%s"}]}`, `{"$gt":"%s"}`, `{"$all":["%s"]}`, `["%s"]`,
				`{"%s":1}`,
				`{"$elemMatch":{"%s":"%s"}}`, `{"$not":{"$regex":"%s","$options":"i"}}`,
			} {
				if path == "d" && operand != `["%s"]` && operand != `{"%s":1}` {
					continue // a string that is no date is refused
				}
				text := `{"` + path + `":` + strings.ReplaceAll(operand, "%s", mark) + `}`
				compiled, err := query.Compile(things, text, 1)
				require.NoError(t, err, text)
				require.NotContains(t, compiled.SQL, "zq", text)
			}
			sorted, err := query.CompileSort(things, `{"`+path+`":1}`, 1)
			require.NoError(t, err)
			require.NotContains(t, sorted.SQL, "zq")
		}
	}
}
