package payments_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"marquee/modules/payments/paymentstest"
)

// TestMain runs the tests, and then has every request shape that the adapter of
// gateway B sent in them judged by stripe-mock, which holds the gateway's own
// description of its API: parameters that it does not know, required ones that are
// missing, values that are none of an enumeration.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && len(sent.shapes) > 0 {
		switch err := sent.judge(); {
		case errors.Is(err, errNoJudge):
			fmt.Println("SKIP request shapes of gateway B:", err)
		case err != nil:
			fmt.Println("FAIL request shapes of gateway B:", err)
			code = 1
		default:
			fmt.Println("request shapes of gateway B accepted by stripe-mock:", len(sent.shapes))
		}
	}
	os.Exit(code)
}

// gatewaysB are the gateways of a test whose calls of gateway B are judged.
func gatewaysB(t *testing.T) *paymentstest.Gateways {
	t.Helper()
	return paymentstest.NewGatewaysThrough(t, &sent)
}

// sent is what the tests of this package sent.
var sent = sentShapes{shapes: map[string]shape{}}

// sentShapes passes calls on and keeps one of each shape.
type sentShapes struct {
	mu     sync.Mutex
	shapes map[string]shape
}

type shape struct {
	method, path, form string
	header             http.Header
}

// RoundTrip implements http.RoundTripper.
func (s *sentShapes) RoundTrip(r *http.Request) (*http.Response, error) {
	form := r.URL.RawQuery
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if len(body) > 0 {
			form = string(body)
		}
	}
	recorded := shape{method: r.Method, path: r.URL.Path, form: form, header: r.Header.Clone()}
	s.mu.Lock()
	s.shapes[recorded.name()] = recorded
	s.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// word matches values that may be of an enumeration; others make no shape.
var word = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// name tells shapes apart: method, path without the id, parameters, words.
func (s shape) name() string {
	parts := strings.Split(s.path, "/") // "", v1, resource, id, action
	if len(parts) > 3 && parts[3] != "search" {
		parts[3] = "{id}"
	}
	values, _ := url.ParseQuery(s.form)
	name := s.method + " " + strings.Join(parts, "/")
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name += " " + key
		if word.MatchString(values.Get(key)) && !strings.HasPrefix(key, "metadata") {
			name += "=" + values.Get(key)
		}
	}
	return name
}

// errNoJudge says that stripe-mock cannot be had on this machine.
var errNoJudge = errors.New("stripe-mock cannot be fetched or built")

// wrongShapes have to be refused: an unknown parameter, a value that is none of the
// enumeration, a required one that is missing, an unknown path.
var wrongShapes = []shape{
	{method: http.MethodPost, path: "/v1/customers", form: "full_name=Ana"},
	{method: http.MethodGet, path: "/v1/charges", form: "customers=cus_1"},
	{
		method: http.MethodPost, path: "/v1/subscriptions",
		form: "customer=cus_1&items[0][price]=price_1&payment_behavior=perhaps",
	},
	{method: http.MethodPost, path: "/v1/prices", form: "unit_amount=4990"},
	{method: http.MethodPost, path: "/v1/subscribers", form: "customer=cus_1"},
}

// judge sends every shape to stripe-mock and tells which it refuses.
func (s *sentShapes) judge() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	address, stop, err := startStripeMock(ctx)
	if err != nil {
		return err
	}
	defer stop()
	for _, wrong := range wrongShapes {
		wrong.header = http.Header{
			"Authorization": {"Bearer sk_test_sandbox"},
			"Content-Type":  {"application/x-www-form-urlencoded"},
		}
		if wrong.send(ctx, address) == nil {
			return fmt.Errorf("stripe-mock accepts %s, so that it judges nothing", wrong.name())
		}
	}
	var refused error
	for _, name := range slices.Sorted(maps.Keys(s.shapes)) {
		if err := s.shapes[name].send(ctx, address); err != nil {
			refused = errors.Join(refused, fmt.Errorf("%s: %w", name, err))
		}
		if testing.Verbose() {
			fmt.Println("  ", name)
		}
	}
	return refused
}

func (s shape) send(ctx context.Context, address string) error {
	target, body := address+s.path, io.Reader(nil)
	if s.method == http.MethodPost {
		body = strings.NewReader(s.form)
	} else if s.form != "" {
		target += "?" + s.form
	}
	req, err := http.NewRequestWithContext(ctx, s.method, target, body)
	if err != nil {
		return err
	}
	req.Header = s.header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%d %s", res.StatusCode, text)
	}
	return nil
}

// buildStripeMock builds the tool once for the machine and tells where it is. What go
// says of modules that it downloads is no part of that: it goes to stderr.
func buildStripeMock(ctx context.Context) (path string, err error) {
	var said bytes.Buffer
	build := exec.CommandContext(ctx, "go", "tool", "-modfile=../../tools/stripemock/go.mod", "-n", "stripe-mock")
	build.Stderr = &said
	out, err := build.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %w: %s", errNoJudge, err, bytes.TrimSpace(said.Bytes()))
	}
	return string(bytes.TrimSpace(out)), nil
}

// startStripeMock runs the tool on a free port.
func startStripeMock(ctx context.Context) (address string, stop func(), err error) {
	path, err := buildStripeMock(ctx)
	if err != nil {
		return "", nil, err
	}
	command := exec.CommandContext(ctx, path, "-http-addr", "127.0.0.1:0") //nolint:gosec // what was just built
	output, err := command.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := command.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "Listening for HTTP at address: "); ok {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return "http://" + at, stop, nil
		}
	}
	stop()
	return "", nil, errors.New("stripe-mock did not start to listen")
}
