package query_test

import (
	"strings"
	"testing"

	"marquee/platform/query"
)

func BenchmarkCompile(b *testing.B) {
	for name, text := range map[string]string{
		"empty":   ``,
		"usual":   `{"enable":true,"tags":"live","release_date":{"$gte":"2024-01-10"}}`,
		"pattern": `{"title":{"$regex":"ação","$options":"i"}}`,
		"largest": `{"$or":[` + strings.TrimSuffix(strings.Repeat(`{"duration":{"$gt":1}},`, 199), ",") + `]}`,
		"long in": `{"title":{"$in":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 1000), ",") + `]}}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := query.Compile(videos, text, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompileSort(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := query.CompileSort(videos, `{"release_date":-1,"title":1}`, 1); err != nil {
			b.Fatal(err)
		}
	}
}
