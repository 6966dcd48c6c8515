package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // sizes of answered pictures
	_ "image/jpeg" // the same
	_ "image/png"  // the same
	"io"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// unheard are headers that every answer has in its own way.
var unheard = map[string]bool{"Date": true, "Content-Length": true, "X-Request-Id": true, "Transfer-Encoding": true}

// player sends requests to one machine.
type player struct {
	machine *machine
	client  *http.Client
	mailed  map[string]int // how often each mail was shown
}

func newPlayer(m *machine) *player {
	transport := &http.Transport{DisableCompression: true}
	return &player{
		machine: m, mailed: map[string]int{},
		client: &http.Client{
			Transport: transport, Timeout: 150 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

func (p *player) play(ctx context.Context, r request) (response, error) {
	switch r.To {
	case "ready":
		return response{Body: p.machine.ready}, nil
	case "mailbox":
		return p.mails(ctx)
	case "clock":
		return p.move(ctx, r)
	case "journal":
		return p.journal(ctx)
	}
	return p.send(ctx, r)
}

func (p *player) base(to string) string {
	text := func(path string) string { return at(response{Body: any(p.machine.ready)}, "b/"+path) }
	switch to {
	case "gwa":
		return strings.TrimSuffix(text("sandbox/gwa"), "/v3")
	case "gwb":
		return text("sandbox/gwb")
	case "clock":
		return text("clock_url")
	case "mailbox":
		return text("mailbox_url") + ".json"
	}
	return text("url")
}

func (p *player) send(ctx context.Context, r request) (response, error) {
	res, body, err := p.exchange(ctx, r)
	if err != nil {
		return response{}, err
	}
	a := response{Status: res.StatusCode, Headers: map[string]string{}}
	for name, values := range res.Header {
		if !unheard[name] {
			a.Headers[name] = strings.Join(values, "\n")
		}
	}
	a.Body = readBody(res.Header.Get("Content-Type"), body)
	return a, nil
}

func (p *player) exchange(ctx context.Context, r request) (*http.Response, []byte, error) {
	address := p.base(r.To) + r.Path
	for i, q := range r.Query {
		address += map[bool]string{true: "?", false: "&"}[i == 0] + url.QueryEscape(q[0]) + "=" + url.QueryEscape(q[1])
	}
	body := []byte(r.Body)
	if r.Bytes != nil {
		body = r.Bytes
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	for name, value := range r.Headers {
		req.Header.Set(name, value)
	}
	if r.Sign != nil {
		stamp, err := p.sign(ctx, *r.Sign, body)
		if err != nil {
			return nil, nil, err
		}
		req.Header.Set("Stripe-Signature", stamp)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	return res, raw, err
}

func (p *player) sign(ctx context.Context, s signature, body []byte) (string, error) {
	var clock struct{ Now time.Time }
	if err := p.get(ctx, "clock", "", &clock); err != nil {
		return "", err
	}
	age, _ := time.ParseDuration(s.Age)
	at := clock.Now.Add(-age).Unix()
	mac := hmac.New(sha256.New, []byte(s.Secret))
	_, _ = fmt.Fprintf(mac, "%d.%s", at, body)
	return fmt.Sprintf("t=%d,v1=%s", at, hex.EncodeToString(mac.Sum(nil))), nil
}

func (p *player) get(ctx context.Context, to, path string, into any) error {
	_, body, err := p.exchange(ctx, request{To: to, Method: http.MethodGet, Path: path})
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// gateways are the two whose events wait until the clock is moved: else a request and the event that it makes would
// race.
var gateways = []string{"gwa", "gwb"}

func (p *player) hold(ctx context.Context) error {
	for _, g := range gateways {
		if _, _, err := p.exchange(ctx, request{
			To: g, Method: http.MethodPost, Path: "/_sandbox/webhooks/hold", Body: `{"types":["*"]}`,
		}); err != nil {
			return err
		}
	}
	return nil
}

// release sends what was held back, one gateway after the other, and waits until all of it has arrived or was refused.
func (p *player) release(ctx context.Context) error {
	for _, g := range gateways {
		if _, _, err := p.exchange(ctx, request{
			To: g, Method: http.MethodPost, Path: "/_sandbox/webhooks/release",
		}); err != nil {
			return err
		}
		for same, left := 0, -1; same < 60; time.Sleep(10 * time.Millisecond) {
			var queue struct{ Waiting, Failures int }
			if err := p.get(ctx, g, "/_sandbox/webhooks", &queue); err != nil {
				return err
			}
			if same++; queue.Waiting != left {
				same, left = 0, queue.Waiting
			}
			if left == 0 {
				break
			}
		}
	}
	return nil
}

// move moves the clock and waits until what follows from it, and from everything before, is done.
func (p *player) move(ctx context.Context, r request) (response, error) {
	if err := p.release(ctx); err != nil {
		return response{}, err
	}
	for {
		_, body, err := p.exchange(ctx, r)
		if err != nil {
			return response{}, err
		}
		var moved struct {
			Now     string
			Reached *bool
		}
		if err := json.Unmarshal(body, &moved); err != nil || moved.Reached == nil {
			return response{}, fmt.Errorf("the clock was not moved: %s", body)
		}
		if *moved.Reached {
			return response{Status: http.StatusOK, Body: object{"now": moved.Now}}, p.hold(ctx)
		}
	}
}

var embedded = regexp.MustCompile(`data:[a-z/+]+;base64,[A-Za-z0-9+/]+=*|\biVBORw0KGgo[A-Za-z0-9+/]+=*`)

// mails are those that came since the last look, in an order that does not hang on which worker was faster.
func (p *player) mails(ctx context.Context) (response, error) {
	var all, fresh []map[string]any
	if err := p.get(ctx, "mailbox", "", &all); err != nil {
		return response{}, err
	}
	now := map[string]int{}
	for i := len(all) - 1; i >= 0; i-- {
		m := all[i]
		key := fmt.Sprint(m["at"], m["to"], m["subject"], m["text"])
		if now[key]++; now[key] > p.mailed[key] {
			p.mailed[key]++
			delete(m, "at")
			fresh = append(fresh, m)
		}
	}
	order := func(m map[string]any) string {
		return fmt.Sprint(m["to"], m["subject"], masked(m["text"].(string)), masked(m["html"].(string)))
	}
	sort.SliceStable(fresh, func(i, j int) bool { return order(fresh[i]) < order(fresh[j]) })
	body := make([]any, len(fresh))
	for i, m := range fresh {
		body[i] = shrink(m)
	}
	return response{Body: body}, nil
}

// masked is a text without what no two runs have alike.
func masked(s string) string {
	var out strings.Builder
	at := 0
	for _, t := range tokens(s, true) {
		out.WriteString(s[at:t.from] + "<" + t.kind + ">")
		at = t.to
	}
	return out.String() + s[at:]
}

// journal is what was asked of the gateways to change since the last look, and how often: jobs side by side have no
// order.
func (p *player) journal(ctx context.Context) (response, error) {
	counts := map[string]any{}
	for _, gateway := range gateways {
		var entries []struct {
			Method, Path string
			Status       int
		}
		if err := p.get(ctx, gateway, "/_sandbox/journal?kind=call", &entries); err != nil {
			return response{}, err
		}
		for _, e := range entries {
			if e.Method != http.MethodGet {
				key := fmt.Sprintf("%s %s %s %d", gateway, e.Method, masked(e.Path), e.Status)
				n, _ := counts[key].(json.Number)
				was, _ := n.Int64()
				counts[key] = json.Number(strconv.FormatInt(was+1, 10))
			}
		}
		if _, _, err := p.exchange(ctx, request{
			To: gateway, Method: http.MethodDelete, Path: "/_sandbox/journal",
		}); err != nil {
			return response{}, err
		}
	}
	return response{Body: counts}, nil
}

// readBody is a body as it is kept and compared.
func readBody(kind string, raw []byte) any {
	switch {
	case len(raw) == 0:
		return nil
	case strings.Contains(kind, "json"):
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err == nil && !decoder.More() {
			return shrink(v)
		}
	case bytes.HasPrefix(raw, []byte("PK")):
		if sheets, err := unpack(raw); err == nil {
			return sheets
		}
	}
	if utf8.Valid(raw) && !bytes.ContainsRune(raw, 0) {
		return embedded.ReplaceAllStringFunc(string(raw), summary)
	}
	return "bytes: " + describe(raw)
}

// shrink puts what pictures are in place of their bytes.
func shrink(v any) any {
	switch v := v.(type) {
	case string:
		return embedded.ReplaceAllStringFunc(v, summary)
	case []any:
		for i := range v {
			v[i] = shrink(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shrink(v[k])
		}
	}
	return v
}

func summary(uri string) string {
	kind, data, named := strings.Cut(uri, ";base64,")
	if !named {
		kind, data = "base64", uri
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return uri
	}
	return kind + ";" + describe(raw)
}

// describe is a picture by its size and hash, and other bytes by theirs.
func describe(raw []byte) string {
	sum := sha256.Sum256(raw)
	hash := "picture:" + hex.EncodeToString(sum[:8])
	if config, format, err := image.DecodeConfig(bytes.NewReader(raw)); err == nil {
		return fmt.Sprintf("%s %dx%d %s", format, config.Width, config.Height, hash)
	}
	return fmt.Sprintf("%d bytes %s", len(raw), hash)
}

var style = regexp.MustCompile(` s="\d+"`)

// unpack shows the files of an archive, such as a workbook, by name.
func unpack(raw []byte) (any, error) {
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	files := map[string]any{}
	for _, f := range archive.File {
		opened, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(opened)
		_ = opened.Close()
		if err != nil {
			return nil, err
		}
		if f.Name != "xl/styles.xml" { // numbered in another order each time
			files[f.Name] = style.ReplaceAllString(string(text), "")
		}
	}
	return files, nil
}
