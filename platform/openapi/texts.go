package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

// Texts is what the document says beside what types tell.
type Texts struct {
	Tags       []Tag // in the order in which they are shown
	Operations map[string]Text
}

// Tag is a group of operations.
type Tag struct{ Name, Description string }

// Text is of one operation.
type Text struct {
	Summary     string // a line; "" where the operation states its own
	Description string
	Request     any            // an example of its body; nil for none
	Response    any            // an example of its answer
	File        *File          // an example of a file that it answers as bytes
	Errors      map[string]any // by status, bodies of errors that it always answers
}

const (
	examplesFile = "examples.json"
	aTag         = "# "
	anOperation  = "## "
)

// File is an example of a file: its text, or its bytes in base64, as the summary says.
type File struct{ Summary, Value string }

// ReadTexts reads a folder: *.md, in the order of their names, and examples.json.
//
//	# videos
//	What the tag's operations are about.
//
//	## video_list
//	Summary: A line, where the operation states none.
//	Who may call it, and what it does.
//
// Examples are an object of {request, response, file, errors} by operation.
func ReadTexts(dir fs.FS) (Texts, error) {
	texts := Texts{Operations: map[string]Text{}}
	files, err := fs.Glob(dir, "*.md")
	if err != nil {
		return texts, err
	}
	for _, name := range files {
		raw, err := fs.ReadFile(dir, name)
		if err != nil {
			return texts, err
		}
		if err := texts.add(string(raw)); err != nil {
			return texts, fmt.Errorf("%s: %w", name, err)
		}
	}
	raw, err := fs.ReadFile(dir, examplesFile)
	if err != nil {
		return texts, err
	}
	return texts, texts.addExamples(raw)
}

func (t *Texts) add(text string) error {
	for _, section := range strings.Split("\n"+text, "\n#")[1:] {
		heading, body, _ := strings.Cut("#"+section, "\n")
		body = strings.TrimSpace(body)
		if name, ok := strings.CutPrefix(heading, anOperation); ok {
			if _, twice := t.Operations[name]; twice {
				return fmt.Errorf("%s is described twice", name)
			}
			var one Text
			if line, ok := strings.CutPrefix(body, "Summary: "); ok {
				one.Summary, body, _ = strings.Cut(line, "\n")
			}
			one.Description = strings.TrimSpace(body)
			t.Operations[name] = one
			continue
		}
		name, ok := strings.CutPrefix(heading, aTag)
		if !ok {
			return fmt.Errorf("%q is neither a tag nor an operation", heading)
		}
		t.Tags = append(t.Tags, Tag{Name: name, Description: body})
	}
	return nil
}

func (t *Texts) addExamples(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var examples map[string]struct {
		Request, Response any
		File              *File
		Errors            map[string]any
	}
	if err := decoder.Decode(&examples); err != nil {
		return fmt.Errorf("%s: %w", examplesFile, err)
	}
	for id, example := range examples {
		one, known := t.Operations[id]
		if !known {
			return fmt.Errorf("%s: %s is not described", examplesFile, id)
		}
		one.Request, one.Response = example.Request, example.Response
		one.File, one.Errors = example.File, example.Errors
		t.Operations[id] = one
	}
	return nil
}
