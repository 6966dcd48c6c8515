// Package wire stands between a program and its Postgres and counts what they say to each
// other, whatever the program is: round trips, and statements.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync/atomic"
)

// Count is how often a program has spoken to Postgres and waited for its answer, and how many
// statements it had executed, the beginnings and ends of transactions among them.
type Count struct{ Trips, Statements int64 }

// Sub is what was added since another count.
func (c Count) Sub(before Count) Count {
	return Count{c.Trips - before.Trips, c.Statements - before.Statements}
}

// Proxy passes connections on to one Postgres.
type Proxy struct {
	listener          net.Listener
	to                string
	trips, statements atomic.Int64
}

// Listen opens a proxy before the Postgres of a connection URL. The other result is the URL
// that leads through it.
func Listen(database string) (*Proxy, string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, "", errors.New("proxy: no connection URL") // the cause may hold the password
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("proxy: %w", err)
	}
	p := &Proxy{listener: listener, to: u.Host}
	go p.accept()
	u.Host = listener.Addr().String()
	return p, u.String(), nil
}

// Count is what was said since the proxy was opened.
func (p *Proxy) Count() Count { return Count{p.trips.Load(), p.statements.Load()} }

// Close takes no more connections; those that are open end with the program.
func (p *Proxy) Close() error { return p.listener.Close() }

func (p *Proxy) accept() {
	for {
		program, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.pass(program)
	}
}

// pass carries one connection. Of two writes of the program the second begins a round trip
// when Postgres has answered between them.
func (p *Proxy) pass(program net.Conn) {
	defer program.Close()
	postgres, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer postgres.Close()
	var responded atomic.Bool
	responded.Store(true)
	go func() {
		_, _ = io.Copy(writer(func(b []byte) (int, error) {
			responded.Store(true)
			return program.Write(b)
		}), postgres)
		_ = program.Close()
	}()
	var said messages
	_, _ = io.Copy(writer(func(b []byte) (int, error) {
		if responded.Swap(false) {
			p.trips.Add(1)
		}
		p.statements.Add(said.read(b))
		return postgres.Write(b)
	}), program)
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// Requests that come before the first message, and are answered by one byte.
const (
	requestTLS    = 80877103
	requestGSSAPI = 80877104
)

// messages reads what a program sends: the start, without a type, then messages of a type and
// a length each. https://www.postgresql.org/docs/current/protocol-message-formats.html
type messages struct {
	started bool
	head    []byte
	skip    int // bytes of the present message that are still to come
}

// read takes the next bytes and returns how many statements begin to be executed in them:
// Query, and Execute of a prepared one.
func (m *messages) read(b []byte) (statements int64) {
	for {
		n := min(m.skip, len(b))
		m.skip, b = m.skip-n, b[n:]
		head := 5 // type and length
		if !m.started {
			head = 8 // length and version
		}
		n = min(head-len(m.head), len(b))
		m.head, b = append(m.head, b[:n]...), b[n:]
		if len(m.head) < head {
			return statements
		}
		if m.started {
			if m.head[0] == 'Q' || m.head[0] == 'E' {
				statements++
			}
			m.skip = int(binary.BigEndian.Uint32(m.head[1:])) - 4
		} else {
			version := binary.BigEndian.Uint32(m.head[4:])
			m.started = version != requestTLS && version != requestGSSAPI
			m.skip = int(binary.BigEndian.Uint32(m.head)) - 8
		}
		m.head = m.head[:0]
	}
}
