package main

import (
	"bytes"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// frame is a function of a flame graph, with the time of all that it calls.
type frame struct {
	value    int64
	children map[string]*frame
}

func (f *frame) child(name string) *frame {
	if f.children == nil {
		f.children = map[string]*frame{}
	}
	c, ok := f.children[name]
	if !ok {
		c = &frame{}
		f.children[name] = c
	}
	return c
}

const (
	flameWidth, flameLine = 1200.0, 16
	flameLeast            = 2.0 // narrower frames are left out
	flameLetter           = 6.2 // of a monospaced font of 10 px
)

// flameGraph draws a profile: each function as wide as its share of the processor time, upon those that called it.
func flameGraph(p *profile.Profile) []byte {
	root := &frame{}
	for _, s := range p.Sample {
		root.value += s.Value[1]
		at := root
		for _, location := range slices.Backward(s.Location) {
			for _, line := range slices.Backward(location.Line) {
				at = at.child(line.Function.Name)
				at.value += s.Value[1]
			}
		}
	}
	var body bytes.Buffer
	depth := 0
	var draw func(f *frame, x float64, level int)
	draw = func(f *frame, x float64, level int) {
		for _, name := range slices.Sorted(maps.Keys(f.children)) {
			c := f.children[name]
			width := flameWidth * float64(c.value) / float64(root.value)
			if width >= flameLeast {
				depth = max(depth, level+1)
				drawFrame(&body, name, x, width, level, float64(c.value)/float64(root.value))
				draw(c, x, level+1)
			}
			x += width
		}
	}
	draw(root, 0, 0)
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" font-family="monospace" font-size="10">`
	return fmt.Appendf(nil, svg+"\n%s</svg>\n", flameWidth, depth*flameLine, body.Bytes())
}

func drawFrame(w *bytes.Buffer, name string, x, width float64, level int, share float64) {
	short := name[strings.LastIndexByte(name, '/')+1:]
	letters := int((width - 4) / flameLetter)
	if letters < 3 {
		short = ""
	} else if len(short) > letters {
		short = short[:letters-1] + "…"
	}
	fmt.Fprintf(w, `<g><title>%s %.1f %%</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+
		`<text x="%.1f" y="%d">%s</text></g>`+"\n", html.EscapeString(name), share*100, x, level*flameLine,
		width-0.5, flameLine-1, flameColour(name), x+2, level*flameLine+11, html.EscapeString(short))
}

// flameColour tells whose a function is: the platform's, Go's or a library's.
func flameColour(name string) string {
	switch first, _, _ := strings.Cut(name, "/"); {
	case first == "marquee":
		return "#f6a560"
	case strings.Contains(first, ".") && strings.Contains(name, "/"):
		return "#9ecae1"
	}
	return "#d9d9d9"
}
