package app_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// attackRequest is a request down to its bytes, as no HTTP client would send it.
type attackRequest struct {
	method, path string
	header       http.Header
	body         []byte
	framed       []byte // the body with its lengths; nil: Content-Length and the body
	broken       bool   // may have no answer
	cut          bool   // nothing follows: the sending half is closed
	hangsUp      bool   // does not wait for the answer
}

type attackResponse struct {
	status int
	body   []byte
}

func (q *attackRequest) bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\n", q.method, q.path)
	names := make([]string, 0, len(q.header))
	for name := range q.header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range q.header[name] {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	if q.framed != nil {
		b.Write(q.framed)
		return b.Bytes()
	}
	if len(q.body) > 0 || q.method != http.MethodGet {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(q.body))
	}
	b.WriteString("\r\n")
	b.Write(q.body)
	return b.Bytes()
}

// send writes the bytes and reads an answer.
func (q *attackRequest) send(address string) (*attackResponse, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	written := make(chan struct{})
	go func() { // the answer may come before all is written
		defer close(written)
		_, _ = conn.Write(q.bytes())
		if q.cut {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	if q.hangsUp {
		<-written
		return nil, io.EOF
	}
	reader := bufio.NewReader(conn)
	res, err := http.ReadResponse(reader, &http.Request{Method: q.method})
	if err == nil && res.StatusCode == http.StatusContinue {
		res, err = http.ReadResponse(reader, &http.Request{Method: q.method})
	}
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if errors.Is(err, io.ErrUnexpectedEOF) { // a file that is deleted while it is sent is broken off
		err = nil
	}
	return &attackResponse{res.StatusCode, body}, err
}

// logTail is what was logged last.
func (f *routeFuzz) logTail() string {
	all := f.log.String()
	return all[max(0, len(all)-3_000):]
}
