package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// insideKey has the claims of a user for whom the platform calls its own API.
type insideKey struct{}

// maxActed bounds what is read of an answer.
const maxActed = 64 << 10

// Acted is what the API answered to Act.
type Acted struct {
	Status   int
	Sentence string // of an error
}

// Act calls an operation for a user without a connection, by the claims of the token with which they asked for it: with
// the rights, the checks and the audit trail of a request of theirs at this moment. The path has the prefix. The error
// is one of the program's.
func (a *API) Act(ctx context.Context, of Claims, method, path, requestID string, body any) (Acted, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return Acted{}, fmt.Errorf("write the body of %s: %w", path, err)
	}
	if body == nil {
		raw = nil
	}
	req, err := http.NewRequestWithContext(context.WithValue(ctx, insideKey{}, of), method, path, bytes.NewReader(raw))
	if err != nil {
		return Acted{}, fmt.Errorf("call %s: %w", path, err)
	}
	req.RequestURI, req.RemoteAddr, req.Host = path, "127.0.0.1:0", "localhost"
	req.Header.Set("X-Request-Id", requestID)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	w := &collected{header: http.Header{}, status: http.StatusOK}
	a.Handler().ServeHTTP(w, req)
	return Acted{Status: w.status, Sentence: w.sentence()}, nil
}

// collected is what a handler has written.
type collected struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *collected) Header() http.Header { return w.header }

func (w *collected) WriteHeader(status int) { w.status = status }

func (w *collected) Write(p []byte) (int, error) {
	if room := maxActed - w.body.Len(); room > 0 {
		w.body.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// sentence is the error's message; "" of a success.
func (w *collected) sentence() string {
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Detail any `json:"detail"`
	}
	if w.status < http.StatusBadRequest || json.Unmarshal(w.body.Bytes(), &body) != nil {
		return ""
	}
	if text, ok := body.Detail.(string); ok && body.Error.Message == "" {
		return text
	}
	return body.Error.Message
}
