package export

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"
)

var everyFormat = []Format{XLSX, CSV, JSON}

// many yields n rows of a subscription's width, and calls at every thousandth.
func many(n int, at func(i int)) Sheet {
	s := Sheet{Name: "subscriptions", Columns: []Column{
		{Name: "customer_id", Kind: Text},
		{Name: "username", Kind: Text},
		{Name: "email", Kind: Text},
		{Name: "plan", Kind: Text},
		{Name: "gateway", Kind: Text},
		{Name: "method", Kind: Text},
		{Name: "status", Kind: Text},
		{Name: "price", Kind: Money},
		{Name: "failures", Kind: Integer},
		{Name: "started_at", Kind: Timestamp},
		{Name: "next_billing_date", Kind: Timestamp},
		{Name: "last_payment_at", Kind: Timestamp},
	}}
	s.Rows = func(yield func([]Value, error) bool) {
		for i := range n {
			if i%progressEvery == 0 {
				at(i)
			}
			day := noon.Add(time.Duration(i) * time.Minute)
			if !yield([]Value{
				TextOf(fmt.Sprintf("%024x", i)), TextOf(fmt.Sprintf("user%07d", i)),
				TextOf(fmt.Sprintf("user%07d@example.com", i)), TextOf("plus"), TextOf("gwa"), TextOf("credit_card"),
				TextOf("active"), MoneyOf(int64(i)), IntOf(0), TimeOf(day), TimeOf(day), TimeOf(day),
			}, nil) {
				return
			}
		}
	}
	return s
}

func TestFirstBytesLeaveBeforeTheFirstRow(t *testing.T) {
	t.Parallel()
	for _, format := range everyFormat {
		var out bytes.Buffer
		before := -1
		s := many(1, func(int) { before = out.Len() })
		require.NoError(t, Write(t.Context(), &out, format, []Sheet{s}, Options{}))
		require.Positive(t, before, format)
	}
}

// What is written leaves while rows still come: the file is nowhere held back.
func TestBytesLeaveAsRowsCome(t *testing.T) {
	t.Parallel()
	for _, format := range everyFormat {
		var out bytes.Buffer
		half := 0
		s := many(40_000, func(i int) {
			if i == 20_000 {
				half = out.Len()
			}
		})
		require.NoError(t, Write(t.Context(), &out, format, []Sheet{s}, Options{}))
		require.Greater(t, half, out.Len()/3, format)
	}
}

// Not parallel with others: it looks at the heap of the process.
func TestMemoryDoesNotGrowWithRows(t *testing.T) {
	for _, format := range everyFormat {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		before, most := m.HeapAlloc, uint64(0)
		s := many(60_000, func(i int) {
			if i%10_000 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		})
		require.NoError(t, Write(t.Context(), io.Discard, format, []Sheet{s}, Options{}))
		require.Less(t, int64(most)-int64(before), int64(4<<20), format)
	}
}

func TestNothingIsLeftOnDisk(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, format := range everyFormat {
		s := many(20_000, func(int) {
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
		require.NoError(t, Write(t.Context(), io.Discard, format, []Sheet{s}, Options{}))
	}
}

func TestABrokenExportIsNoFile(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database went away")
	for _, format := range everyFormat {
		s := many(5000, func(int) {})
		whole := s.Rows
		s.Rows = func(yield func([]Value, error) bool) {
			n := 0
			for values, err := range whole {
				if n++; n == 4000 {
					err = broken
				}
				if !yield(values, err) {
					return
				}
			}
		}
		var out bytes.Buffer
		require.ErrorIs(t, Write(t.Context(), &out, format, []Sheet{s}, Options{}), broken)
		if format == JSON {
			require.False(t, json.Valid(out.Bytes()))
			continue
		}
		_, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		require.ErrorIs(t, err, zip.ErrFormat)
	}
}

func TestAnExportEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, format := range everyFormat {
		ctx, cancel := context.WithCancel(t.Context())
		read := 0
		s := many(1_000_000, func(i int) {
			if read = i; i == 2000 {
				cancel()
			}
		})
		require.ErrorIs(t, Write(ctx, io.Discard, format, []Sheet{s}, Options{}), context.Canceled)
		require.Less(t, read, 5000)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var heard []int64
	o := Options{Progress: func(rows int64) error { heard = append(heard, rows); return nil }}
	require.NoError(t, Write(t.Context(), io.Discard, JSON, []Sheet{many(1500, func(int) {}), texts("x")}, o))
	require.Equal(t, []int64{1000, 1501}, heard)

	stop := errors.New("cancelled")
	o.Progress = func(int64) error { return stop }
	require.ErrorIs(t, Write(t.Context(), io.Discard, JSON, []Sheet{many(1500, func(int) {})}, o), stop)
}

func TestAFullDiskIsAnError(t *testing.T) {
	t.Parallel()
	for _, format := range everyFormat {
		for _, room := range []int{0, 10, 2000, 5000} {
			err := Write(t.Context(), &narrow{room: room}, format, []Sheet{many(2000, func(int) {})}, Options{})
			require.ErrorIs(t, err, io.ErrShortWrite, "%s with room for %d", format, room)
		}
	}
}

// narrow takes so many bytes and no more.
type narrow struct{ room int }

func (w *narrow) Write(b []byte) (int, error) {
	if len(b) > w.room {
		return 0, io.ErrShortWrite
	}
	w.room -= len(b)
	return len(b), nil
}

func TestUnknownFormatAndWrongWidth(t *testing.T) {
	t.Parallel()
	require.Error(t, Write(t.Context(), io.Discard, "pdf", nil, Options{}))
	s := Sheet{
		Name: "s", Columns: []Column{{Name: "a", Kind: Text}, {Name: "b", Kind: Text}},
		Rows: of([]Value{TextOf("x")}),
	}
	require.ErrorContains(t, Write(t.Context(), io.Discard, CSV, []Sheet{s}, Options{}), "1 values for 2 columns")
}

// The goal of the design is 1.5 times the bare StreamWriter.
func BenchmarkWrite(b *testing.B) {
	const rows = 100_000
	for _, format := range everyFormat {
		b.Run(string(format), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, Write(b.Context(), io.Discard, format, []Sheet{many(rows, func(int) {})}, Options{}))
			}
		})
	}
	b.Run("bare StreamWriter", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, bare(many(rows, func(int) {}).Rows))
		}
	})
}

func bare(rows iter.Seq2[[]Value, error]) error {
	f := excelize.NewFile()
	defer func() { _ = f.Close() }()
	s, err := f.NewStreamWriter("Sheet1")
	if err != nil {
		return err
	}
	n := 0
	for values := range rows {
		cells := make([]any, len(values))
		for i, v := range values {
			switch v.Kind {
			case Text:
				cells[i] = v.Text
			case Timestamp:
				cells[i] = v.Time
			default:
				cells[i] = v.Int
			}
		}
		n++
		if err := s.SetRow(fmt.Sprintf("A%d", n), cells); err != nil {
			return err
		}
	}
	if err := s.Flush(); err != nil {
		return err
	}
	return f.Write(io.Discard)
}
