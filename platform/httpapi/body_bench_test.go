package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
)

// purchase and catalogue are the bodies of typical writes: a guest's order, and a film as
// the office keeps it.
const (
	purchase  = `{"event_id":"66f0a1b2c3d4e5f607182a01","quantity":2,"buyer":{"full_name":"Bruno Lima","email":"bruno@example.com","tax_id":"52998224725","phone":"+5511987654321"}}`
	catalogue = `[{"title":"Film","slug":"film","description":"A family comes back to the town that it left, and to the house by the river that nobody has opened since.","video_id":"https://cdn.example.com/film.m3u8","duration":5400,` +
		`"release_date":"2024-01-10","categories":["66f0a1b2c3d4e5f607182a01","66f0a1b2c3d4e5f607182a02"],"tags":["drama","family","river"],"enable":true,"director":"Ana Souza","cast":["A. One","B. Two","C. Three"],"min_age":12}]`
)

// BenchmarkBody compares how a write's body is read, whole and each member once, with
// plain decoding from the connection. What a whole write takes beside it says
// BenchmarkVideoWrite of modules/catalog.
func BenchmarkBody(b *testing.B) {
	for name, body := range map[string]string{"purchase": purchase, "film": catalogue} {
		b.Run(name+"/plain", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.NewDecoder(bytes.NewReader([]byte(body))).Decode(&v); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/read", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				data, err := readBody(io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body)), 1<<20)
				if err == nil {
					err = checkBody(data)
				}
				var v any
				if err == nil {
					err = json.Unmarshal(data, &v)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
