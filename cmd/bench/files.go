package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"sync/atomic"
	"time"
)

// benchFiles uploads files of a record and reads them back. Every download is
// compared with what was uploaded, by its SHA-256. The design gives no goal for
// them; W1 to W7 are what the platform is built for.
func benchFiles(ctx context.Context, run *bench) error {
	admin, err := run.ours.login(ctx, "admin")
	if err != nil {
		return err
	}
	var me struct {
		UserID string `json:"user_id"`
	}
	who := request{Method: http.MethodGet, Path: "/api/v1/current-user", Token: admin}
	if err := run.ours.call(ctx, who, &me); err != nil {
		return err
	}
	fmt.Printf("\nfiles of a record, %v each\n", run.length)
	fmt.Printf("%-4s %-24s %8s %8s %10s %10s %12s %8s\n", "", "", "clients", "req/s", "p50", "p99", "CPU/request",
		"MB/s")
	for _, megabytes := range []int{1, 10} {
		b := fileBench{
			side: run.ours, token: admin, folder: "/api/v1/upload-file/archive-records/" + me.UserID,
			size: megabytes << 20,
		}
		for _, clients := range []int{1, 4} {
			if err := b.measure(ctx, fmt.Sprintf("%d MB", megabytes), clients, run.length); err != nil {
				return err
			}
		}
	}
	return nil
}

type fileBench struct {
	side
	token  string
	folder string // path of the record's files
	size   int    // bytes
	made   atomic.Int64
}

func (b *fileBench) measure(ctx context.Context, what string, clients int, length time.Duration) error {
	up, err := drive(ctx, b.side, clients, length, func(side) caller { return b.uploads })
	if err != nil {
		return err
	}
	id, sum, err := b.upload(ctx)
	if err != nil {
		return err
	}
	down, err := drive(ctx, b.side, clients, length, func(side) caller {
		return func(ctx context.Context, until time.Time) ([]time.Duration, error) {
			return b.downloads(ctx, id, sum, until)
		}
	})
	if err != nil {
		return err
	}
	for _, row := range []struct {
		what string
		result
	}{{"upload " + what, up}, {"download " + what, down}} {
		fmt.Printf("%-4s %-24s %8d %8.1f %10v %10v %12v %8.0f\n", "", row.what, clients, row.perSecond,
			row.p50.Round(100*time.Microsecond),
			row.p99.Round(100*time.Microsecond), row.cpu.sum().Round(100*time.Microsecond),
			row.perSecond*float64(b.size)/1e6)
	}
	return b.remove(ctx, id)
}

// uploads sends files until the time is up, and removes each, out of the time that
// is measured.
func (b *fileBench) uploads(ctx context.Context, until time.Time) (times []time.Duration, err error) {
	for time.Now().Before(until) {
		body, contentType, _, err := b.form()
		if err != nil {
			return times, err
		}
		start := time.Now()
		id, err := b.send(ctx, body, contentType)
		if err != nil {
			return times, err
		}
		times = append(times, time.Since(start))
		if err := b.remove(ctx, id); err != nil {
			return times, err
		}
	}
	return times, nil
}

func (b *fileBench) downloads(ctx context.Context, id, sum string, until time.Time) (times []time.Duration, err error) {
	for time.Now().Before(until) {
		start := time.Now()
		got, err := b.download(ctx, id)
		if err != nil {
			return times, err
		}
		times = append(times, time.Since(start))
		if got != sum {
			return times, errors.New("a download differs from its upload")
		}
	}
	return times, nil
}

// form is the multipart body of a file like no other, with the file's SHA-256.
func (b *fileBench) form() (body []byte, contentType, sum string, err error) {
	content := make([]byte, b.size)
	_, _ = rand.NewChaCha8([32]byte{byte(b.made.Add(1)), byte(b.made.Load() >> 8)}).Read(content)
	var buffer bytes.Buffer
	form := multipart.NewWriter(&buffer)
	part, err := form.CreateFormFile("file", "benchmark.bin")
	if err == nil {
		_, err = part.Write(content)
	}
	if err := errors.Join(err, form.Close()); err != nil {
		return nil, "", "", fmt.Errorf("make a form: %w", err)
	}
	hash := sha256.Sum256(content)
	return buffer.Bytes(), form.FormDataContentType(), hex.EncodeToString(hash[:]), nil
}

func (b *fileBench) upload(ctx context.Context) (id, sum string, err error) {
	body, contentType, sum, err := b.form()
	if err != nil {
		return "", "", err
	}
	id, err = b.send(ctx, body, contentType)
	return id, sum, err
}

func (b *fileBench) send(ctx context.Context, body []byte, contentType string) (id string, err error) {
	var made struct {
		FileID string `json:"file_id"`
		Size   int    `json:"size"`
	}
	if err := b.call(ctx, request{
		Method: http.MethodPost, Path: b.folder, Token: b.token, ContentType: contentType, Body: string(body),
	}, &made); err != nil {
		return "", err
	}
	if made.Size != b.size || made.FileID == "" {
		return "", fmt.Errorf("an upload of %d bytes was answered with %+v", b.size, made)
	}
	return made.FileID, nil
}

// download returns the SHA-256 of what came.
func (b *fileBench) download(ctx context.Context, id string) (sum string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/api/v1/archive-records/"+id, nil)
	if err != nil {
		return "", fmt.Errorf("download: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	res, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("download: %w", err)
	}
	defer res.Body.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, res.Body); err != nil {
		return "", fmt.Errorf("download: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("download: %d", res.StatusCode)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func (b *fileBench) remove(ctx context.Context, id string) error {
	return b.call(ctx, request{Method: http.MethodDelete, Path: b.folder + "/" + id, Token: b.token}, nil)
}
