package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// pair is a request and what was answered.
type pair struct {
	N       int      `json:"n"`
	Chapter string   `json:"chapter,omitempty"` // at its first pair
	Request request  `json:"request"`
	Answer  response `json:"answer"`
}

// request is what is sent. In a recording its texts hold references (reference.go).
type request struct {
	To      string            `json:"to"` // api, gwa, gwb, clock, mailbox, ready
	Method  string            `json:"method,omitempty"`
	Path    string            `json:"path,omitempty"`
	Query   [][2]string       `json:"query,omitempty"` // as it is meant, escaped when it is sent
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Bytes   []byte            `json:"bytes,omitempty"` // a body that is no text
	Sign    *signature        `json:"sign,omitempty"`
}

// String is the request in a line, as exceptions name it.
func (r request) String() string {
	line := strings.TrimSpace(r.To + " " + r.Method + " " + r.Path)
	for i, q := range r.Query {
		line += map[bool]string{true: "?", false: "&"}[i == 0] + q[0] + "=" + q[1]
	}
	return line
}

// signature is what gateway B sends with an event: made anew with each run's secret and clock.
type signature struct {
	Secret string `json:"secret"`
	Age    string `json:"age,omitempty"` // a duration
}

// response is what came back: of the headers those that matter, of the body its JSON, its text, or what it is.
type response struct {
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body,omitempty"`
	Same    *int              `json:"same,omitempty"` // of a recording: the body is that pair's, to the letter
}

// head is the first line of a recording.
type head struct {
	Begin    time.Time `json:"begin"`
	Recorded time.Time `json:"recorded"`
}

func writePairs(file string, h head, pairs []pair) (err error) {
	var raw bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&raw, gzip.BestCompression)
	lines := json.NewEncoder(zipped)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(h); err != nil {
		return err
	}
	seen := map[string]int{}
	for _, p := range pairs {
		body, err := json.Marshal(p.Answer.Body)
		if err != nil {
			return err
		}
		if n, known := seen[string(body)]; known && len(body) > 200 {
			p.Answer.Body, p.Answer.Same = nil, &n
		} else {
			seen[string(body)] = p.N
		}
		if err := lines.Encode(p); err != nil {
			return err
		}
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, raw.Bytes(), 0o644)
}

func readPairs(file string) (h head, pairs []pair, err error) {
	raw, err := os.Open(file)
	if err != nil {
		return h, nil, err
	}
	defer func() { _ = raw.Close() }()
	plain, err := gzip.NewReader(bufio.NewReader(raw))
	if err != nil {
		return h, nil, fmt.Errorf("%s: %w", file, err)
	}
	lines := json.NewDecoder(plain)
	lines.UseNumber()
	if err := lines.Decode(&h); err != nil {
		return h, nil, fmt.Errorf("%s: %w", file, err)
	}
	for {
		var p pair
		err := lines.Decode(&p)
		if err == io.EOF {
			return h, pairs, nil
		}
		if err != nil || p.N != len(pairs) {
			return h, nil, fmt.Errorf("%s: pair %d: %w", file, len(pairs), err)
		}
		if p.Answer.Same != nil {
			p.Answer.Body = pairs[*p.Answer.Same].Answer.Body
		}
		pairs = append(pairs, p)
	}
}
