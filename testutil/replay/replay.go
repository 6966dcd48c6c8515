package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

var errDifferent = errors.New("the answers differ")

// replay asks a binary everything that was recorded, and compares.
func replay(ctx context.Context, o options) error {
	exceptions, err := readExceptions(o.exceptions)
	if err != nil {
		return err
	}
	h, pairs, err := readPairs(o.file)
	if err != nil {
		return err
	}
	if !h.Begin.Equal(begin) {
		return fmt.Errorf("the recording begins at %s, the tool at %s", h.Begin, begin)
	}
	since := time.Now()
	m, err := start(ctx, o.binary)
	if err != nil {
		return err
	}
	defer m.stop()
	p := newPlayer(m)
	c := &comparison{
		there: map[string]string{}, back: map[string]string{}, recorded: h.Recorded, replayed: since,
		exceptions: exceptions,
	}
	responses := make([]response, 0, len(pairs))
	requests := resolver{
		recorded: func(n int) response { return pairs[n].Answer },
		replayed: func(n int) response { return responses[n] },
		mails:    func(n int) bool { return pairs[n].Request.To == "mailbox" },
		twin:     func(was string) (string, bool) { is, known := c.there[was]; return is, known },
	}
	sent, equal, printed, chapter := 0, 0, 0, ""
	for _, recorded := range pairs {
		if recorded.Chapter != "" {
			chapter = recorded.Chapter
		}
		a, err := p.play(ctx, requests.request(recorded.Request))
		if err != nil {
			return fmt.Errorf("pair %d, %s: %w (what the binary logged: %s)", recorded.N, chapter, err,
				filepath.Join(m.dir, "log"))
		}
		responses = append(responses, a)
		found := c.responses(recorded.Request, recorded.Answer, a)
		if counted(recorded.Request) {
			sent++
			if len(found) == 0 {
				equal++
			}
		}
		if len(found) > 0 {
			if printed++; printed <= o.show {
				fmt.Println(render(recorded, chapter, found))
			}
		}
	}
	for _, e := range c.exceptions {
		if e.applied == 0 {
			fmt.Printf("no answer came under the exception %s %s: %s\n", e.route, e.path, e.why)
		}
	}
	fmt.Printf("%d pairs, %d equal, %d different (of %d steps, with mails, calls at the gateways and moves of the clock, %d differ), in %s\n",
		sent, equal, sent-equal, len(pairs), printed, time.Since(since).Round(time.Second))
	if printed > 0 {
		if printed > o.show {
			fmt.Printf("%d are shown; -show shows more\n", o.show)
		}
		fmt.Printf("what the binary logged: %s\n", filepath.Join(m.dir, "log"))
		return errDifferent
	}
	return nil
}

// counted are requests to the product itself.
func counted(r request) bool { return r.To == "api" }

func render(p pair, chapter string, found []difference) string {
	const most = 8
	var out strings.Builder
	fmt.Fprintf(&out, "--- pair %d, %s: %s\n", p.N, chapter, p.Request)
	if p.Request.Body != "" {
		body, _ := excerpt(p.Request.Body, "")
		fmt.Fprintf(&out, "    %s\n", body)
	}
	for i, d := range found {
		if i == most {
			fmt.Fprintf(&out, "    and %d more\n", len(found)-most)
			break
		}
		was, is := excerpt(d.recorded, d.replayed)
		if d.note != "" {
			d.note = ": " + d.note
		}
		fmt.Fprintf(&out, "  %s%s\n    - %s\n    + %s\n", d.path, d.note, was, is)
	}
	return out.String()
}
