package query_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"marquee/platform/query"
)

// Every refusal names its place and a phrase of the contract.
func TestCompile_refusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"s":"x"`:                `query: is not valid JSON (offset 8)`,
		`{'s':'x'}`:               `query: is not valid JSON (offset 1)`,
		`{} {}`:                   `query: is not valid JSON (offset 4)`,
		`{}]`:                     `query: is not valid JSON (offset 2)`,
		"{\"s\":\"\xff\"}":        `query: is not valid UTF-8`,
		`[]`:                      `query: has to be an object`,
		`1`:                       `query: has to be an object`,
		`{"s":"a","s":"b"}`:       `query: has the key "s" twice`,
		`{"s":{"a":1,"a":2}}`:     `query.s: has the key "a" twice`,
		`{"$where":"1"}`:          `query.$where: unknown or unsupported operator`,
		`{"$and":[{"$expr":{}}]}`: `query.$and[0].$expr: unknown or unsupported operator`,
		`{"s":{"$foo":1}}`:        `query.s.$foo: unknown or unsupported operator`,
		`{"s":{"$comment":"x"}}`:  `query.s.$comment: unknown or unsupported operator`,
		`{"s":{"$oid":"65a000000000000000000001","x":1}}`: `query.s.$oid: unknown or unsupported operator`,
		`{"$comment":1}`:                    `query.$comment: needs a string`,
		`{"i":{"$gt":1,"x":2}}`:             `query.i: operators and fields are mixed`,
		`{"i":{"x":2,"$gt":1}}`:             `query.i: operators and fields are mixed`,
		`{"$or":[]}`:                        `query.$or: has to be a nonempty array`,
		`{"$nor":{}}`:                       `query.$nor: has to be a nonempty array`,
		`{"$or":[1]}`:                       `query.$or[0]: has to be an object`,
		`{"$or":[{},{"tags":{"$in":"x"}}]}`: `query.$or[1].tags.$in: needs an array`,
		`{"s":{"$in":[1,{"$gt":1}]}}`:       `query.s.$in[1].$gt: operator inside a value`,
		`{"s":{"$eq":{"a":{"$b":1}}}}`:      `query.s.$eq.a.$b: operator inside a value`,
		`{"s":{"$not":"x"}}`:                `query.s.$not: needs an operator object or a regular expression`,
		`{"s":{"$not":{}}}`:                 `query.s.$not: needs an operator object or a regular expression`,
		`{"s":{"$not":{"$oid":"65a000000000000000000001"}}}`:       `query.s.$not: needs an operator object or a regular expression`,
		`{"tags":{"$size":-1}}`:                                    `query.tags.$size: needs a non-negative integer`,
		`{"tags":{"$size":1.5}}`:                                   `query.tags.$size: needs a non-negative integer`,
		`{"i":{"$mod":[0.5,1]}}`:                                   `query.i.$mod: needs a nonzero divisor`,
		`{"i":{"$mod":[1]}}`:                                       `query.i.$mod: needs an array of divisor and remainder`,
		`{"i":{"$mod":[1,"a"]}}`:                                   `query.i.$mod: needs an array of divisor and remainder`,
		`{"i":{"$mod":[1e30,1]}}`:                                  `query.i.$mod[0]: number is out of range`,
		`{"tags":{"$gt":["a"]}}`:                                   `query.tags.$gt: takes no array or object`,
		`{"s":{"$lte":{}}}`:                                        `query.s.$lte: takes no array or object`,
		`{"s":{"$regex":"("}}`:                                     `query.s.$regex: has an unbalanced parenthesis`,
		`{"s":{"$regex":"(?=a)"}}`:                                 `query.s.$regex: look-around is not supported, negate with $not`,
		`{"s":{"$regex":"a","$options":"g"}}`:                      `query.s.$regex: unknown option`,
		`{"s":{"$regex":1}}`:                                       `query.s.$regex: needs a string`,
		`{"s":{"$options":"i"}}`:                                   `query.s.$options: needs a $regex beside it`,
		`{"s":{"$ne":{"$regex":"a"}}}`:                             `query.s.$ne: takes no regular expression`,
		`{"s":{"$regularExpression":{"pattern":"a","flags":"i"}}}`: `query.s.$regularExpression: needs a pattern and options`,
		`{"_id":{"$oid":"xyz"}}`:                                   `query._id.$oid: $oid needs 24 hexadecimal digits`,
		`{"d":{"$gte":"2024-02-30"}}`:                              `query.d.$gte: is not a date`,
		`{"d":{"$nin":["yesterday"]}}`:                             `query.d.$nin[0]: is not a date`,
		`{"d":{"$date":"x"}}`:                                      `query.d.$date: is not a date`,
		`{"d":{"$date":1.5}}`:                                      `query.d.$date: is not a date`,
		`{"d":{"$date":1e18}}`:                                     `query.d.$date: is not a date`,
		`{"i":1e400}`:                                              `query.i: number is out of range`,
		`{"i":{"$numberInt":"2147483648"}}`:                        `query.i.$numberInt: number is out of range`,
		`{"i":{"$numberLong":"9223372036854775808"}}`:              `query.i.$numberLong: number is out of range`,
		`{"i":{"$numberDouble":"NaN"}}`:                            `query.i.$numberDouble: number is out of range`,
		`{"i":{"$numberInt":5}}`:                                   `query.i.$numberInt: needs a number in a string`,
		`{"s":"a\u0000"}`:                                          `query.s: holds a null character`,
		`{"a\u0000":1}`:                                            `query: holds a null character`,
		`{"a..b":1}`:                                               `query.a..b: is not a field path`,
		`{"":1}`:                                                   `query."": is not a field path`,
		`{"a.$b":1}`:                                               `query.a.$b: is not a field path`,
		`{"s":{"$exists":"false"}}`:                                `query.s.$exists: has to be true or false`,
		`{"s":{"$type":"text"}}`:                                   `query.s.$type: unknown type`,
		`{"s":{"$type":[]}}`:                                       `query.s.$type: needs at least one type`,
		`{"i":{"$binary":{}}}`:                                     `query.i.$binary: unsupported value type`,
		`{"i":{"$in":[{"$binary":{}}]}}`:                           `query.i.$in[0].$binary: unsupported value type`,
		`{"tags":{"$elemMatch":[]}}`:                               `query.tags.$elemMatch: has to be an object`,
		`{"tags":{"$all":[{"$gt":1}]}}`:                            `query.tags.$all[0].$gt: operator inside a value`,
		"{\"a b\\n\":{\"$x\":1}}":                                  `query."a b\n".$x: unknown or unsupported operator`,
		`{"` + strings.Repeat("é", 70) + `":{"$x":1}}`: `query."` + strings.Repeat("é", 64) +
			`".$x: unknown or unsupported operator`,
	} {
		_, err := query.Compile(things, text, 1)
		require.EqualError(t, err, want, text)
		var refused *query.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, query.ParamQuery, refused.Param)
	}
}

func TestCompileSort_refusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"i":1,}`:                    `sort: is not valid JSON (offset 7)`,
		`{register_update_date: -1}`:  `sort: is not valid JSON (offset 1)`,
		`[["i",1]]`:                   `sort: has to be an object`,
		`{"i":2}`:                     `sort.i: has to be 1 or -1`,
		`{"i":"asc"}`:                 `sort.i: has to be 1 or -1`,
		`{"i":null}`:                  `sort.i: has to be 1 or -1`,
		`{"i":{"$meta":"textScore"}}`: `sort.i: has to be 1 or -1`,
		`{"$natural":1}`:              `sort.$natural: unknown or unsupported operator`,
		`{"i":1,"i":-1}`:              `sort: has the key "i" twice`,
		`{"a..b":1}`:                  `sort.a..b: is not a field path`,
	} {
		_, err := query.CompileSort(things, text, 1)
		require.EqualError(t, err, want, text)
	}
}

// The path of an error is what `loc` goes on with after ["query", "query"].
func TestError_path(t *testing.T) {
	t.Parallel()
	_, err := query.Compile(things, `{"$or":[{},{"tags":{"$in":"x"}}]}`, 1)
	var refused *query.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []any{"$or", 1, "tags", "$in"}, refused.Path)
}
