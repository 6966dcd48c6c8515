package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"os"
	"regexp"
	"strings"
	"time"

	"marquee/platform/taxid"
)

// recordStory plays the story and writes what was answered.
func recordStory(ctx context.Context, o options) error {
	since := time.Now()
	m, err := start(ctx, o.binary)
	if err != nil {
		return err
	}
	defer m.stop()
	rec := &recorder{ctx: ctx, player: newPlayer(m), requested: map[string]int{}}
	s := &story{recorder: rec}
	if err := s.play(); err != nil {
		return fmt.Errorf("%w (what the binary logged: %s/log)", err, m.dir)
	}
	if s.err != nil {
		return s.err
	}
	count := 0
	for _, p := range s.pairs {
		if counted(p.Request) {
			count++
		}
	}
	if err := writePairs(o.file, head{begin, since.UTC()}, s.pairs); err != nil {
		return err
	}
	written, err := os.Stat(o.file)
	if err != nil {
		return err
	}
	fmt.Printf("%d pairs (%d steps) in %s, %d bytes in %s\n", count, len(s.pairs), time.Since(since).Round(time.Second),
		written.Size(), o.file)
	return s.everyRoute()
}

// recorder asks one machine as somebody, and remembers what was answered. What is asked is the story's.
type recorder struct {
	ctx       context.Context
	player    *player
	pairs     []pair
	places    places
	chapter   string
	quiet     bool           // nothing follows from what is asked: no need to wait for it
	requested map[string]int // method and path, by how often
	mails     []any          // those of the last look
	err       error
}

// person is who asks; nil: nobody.
type person struct{ name, token, id, address string }

type object = map[string]any

// reply reads an answer in a story; what isn't there is empty.
type reply struct {
	response
	n int
}

func (r reply) text(path string) string {
	return at(r.response, "b/"+path)
}

func (r reply) id() string { return r.text("docs/0/_id") }

// step plays one request; in the recording, references stand for what was answered before.
func (rec *recorder) step(r request) reply {
	if rec.err != nil {
		return reply{}
	}
	a, err := rec.player.play(rec.ctx, r)
	if err != nil {
		rec.err = fmt.Errorf("%s %s %s: %w", r.To, r.Method, r.Path, err)
		return reply{}
	}
	n := len(rec.pairs)
	p := pair{N: n, Chapter: rec.chapter, Request: rec.places.referAll(r), Answer: a}
	rec.chapter = ""
	rec.pairs = append(rec.pairs, p)
	rec.places.collect(n, a, r.To == "mailbox")
	if os.Getenv("STORY") != "" && (r.To == "api" || r.To == "gwa" || r.To == "gwb") {
		note := short(a.Body)
		if a.Status < 300 && !strings.Contains(os.Getenv("STORY"), "all") {
			note = ""
		}
		fmt.Fprintf(os.Stderr, "%4d %d %s %s%s %v %.200s => %.400s\n", n, a.Status, r.To, r.Method+" ", r.Path, r.Query,
			r.Body, note)
	}
	return reply{a, n}
}

func (rec *recorder) begin(chapter string) {
	rec.chapter, rec.quiet = chapter, false
	fmt.Fprintf(os.Stderr, "%s  %d steps, %s\n", time.Now().Format(time.TimeOnly), len(rec.pairs), chapter)
}

// do asks the product as somebody, and waits for what follows.
func (rec *recorder) do(who *person, method, path string, body any, more ...func(*request)) reply {
	r := request{To: "api", Method: method, Path: path, Headers: map[string]string{}}
	if !strings.HasPrefix(path, "/webhooks/") {
		r.Path = "/api/v1" + path
	}
	if who != nil {
		r.Headers["Authorization"] = "Bearer " + who.token
	}
	switch body := body.(type) {
	case nil:
	case string:
		r.Body, r.Headers["Content-Type"] = body, "application/json"
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			rec.err = err
		}
		r.Body, r.Headers["Content-Type"] = string(raw), "application/json"
	}
	for _, change := range more {
		change(&r)
	}
	rec.requested[method+" "+strings.SplitN(r.Path, "?", 2)[0]]++
	a := rec.step(r)
	if method != "GET" && method != "HEAD" && a.Status < 300 && !rec.quiet {
		rec.settle()
	}
	return a
}

func (rec *recorder) get(who *person, path string, query ...string) reply {
	return rec.do(who, "GET", path, nil, requesting(query...))
}

func (rec *recorder) post(who *person, path string, body any, more ...func(*request)) reply {
	return rec.do(who, "POST", path, body, more...)
}

func (rec *recorder) put(who *person, path string, body any, more ...func(*request)) reply {
	return rec.do(who, "PUT", path, body, more...)
}

func (rec *recorder) remove(who *person, path string, body any, more ...func(*request)) reply {
	return rec.do(who, "DELETE", path, body, more...)
}

func requesting(query ...string) func(*request) {
	return func(r *request) {
		for i := 0; i+1 < len(query); i += 2 {
			r.Query = append(r.Query, [2]string{query[i], query[i+1]})
		}
	}
}

func header(name, value string) func(*request) {
	return func(r *request) { r.Headers[name] = value }
}

func key(value string) func(*request) { return header("Idempotency-Key", value) }

// settle waits until the jobs and the gateways' events that are due are done, and has the sweeps come by.
func (rec *recorder) settle() {
	rec.step(request{To: "clock", Method: "POST", Path: "/advance", Body: `{"by":"1s"}`})
}

// day moves the clock to a day of the story, counted from its begin, at the hour of its begin.
func (rec *recorder) day(n int) {
	to := begin.AddDate(0, 0, n).Format(time.RFC3339)
	rec.step(request{To: "clock", Method: "POST", Path: "/advance", Body: `{"to":"` + to + `"}`})
}

func (rec *recorder) wait(by string) {
	rec.step(request{To: "clock", Method: "POST", Path: "/advance", Body: `{"by":"` + by + `"}`})
}

// control uses a gateway's control and waits for what follows.
func (rec *recorder) control(gateway, method, path string, body any) reply {
	r := request{To: gateway, Method: method, Path: "/_sandbox" + path}
	if body != nil {
		raw, _ := json.Marshal(body)
		r.Body, r.Headers = string(raw), map[string]string{"Content-Type": "application/json"}
	}
	a := rec.step(r)
	rec.settle()
	return a
}

// collect shows the mails that came, and what was asked of the gateways.
func (rec *recorder) collect() {
	a := rec.step(request{To: "mailbox"})
	rec.mails, _ = a.Body.([]any)
	rec.step(request{To: "journal"})
}

var sixDigits = regexp.MustCompile(`\b[0-9]{6}\b`)

// code is the newest code mailed to an address.
func (rec *recorder) code(address string) (code string) {
	rec.settle()
	rec.collect()
	for _, m := range rec.mails {
		if m, _ := m.(object); m["to"] == address {
			if found := sixDigits.FindString(m["text"].(string)); found != "" {
				code = found
			}
		}
	}
	if code == "" {
		fmt.Fprintln(os.Stderr, "no code was mailed to", address)
	}
	return code
}

// found is what a pattern finds in the mails of the last look to an address.
func (rec *recorder) found(address, pattern string) string {
	for _, m := range rec.mails {
		if m, _ := m.(object); m["to"] == address {
			if found := regexp.MustCompile(pattern).FindStringSubmatch(m["text"].(string)); found != nil {
				return found[1]
			}
		}
	}
	fmt.Fprintln(os.Stderr, "no mail to", address, "has", pattern)
	return ""
}

// logIn takes tokens for somebody.
func (rec *recorder) logIn(name, password string) *person {
	a := rec.do(nil, "POST", "/token", nil, form("username="+name+"&password="+password),
		func(r *request) { r.Headers["Content-Type"] = "application/x-www-form-urlencoded" })
	return &person{name: name, token: a.text("access_token"), id: a.text("id_token"), address: name + "@example.com"}
}

func form(body string) func(*request) { return func(r *request) { r.Body = body } }

const password = "a long password of the story"

var people int

// taxID makes the numbered CPF that holds.
func taxID(n int) string { return taxid.CPF(313_700_000 + n*7) }

func (rec *recorder) newcomer(name string) object {
	people++
	return object{
		"username": name, "email": name + "@example.com", "password": password,
		"full_name": "Ana " + strings.ToUpper(name[:1]) + name[1:], "phone": "+5511987654321", "tax_id": taxID(people),
	}
}

// signUp signs a customer up with a mailed code.
func (rec *recorder) signUp(name string) *person {
	body := rec.newcomer(name)
	rec.post(nil, "/customers/signup", []object{body})
	body["verification_code"] = rec.code(name + "@example.com")
	a := rec.post(nil, "/customers/signup", []object{body})
	who := &person{name: name, token: a.text("info/auth/access_token"), address: name + "@example.com"}
	who.id = rec.get(who, "/current-user").text("user_id")
	if who.token == "" {
		who = rec.logIn(name, "a+long+password+of+the+story")
	}
	return who
}

// picture is a PNG of one colour.
func picture(width, height int, c color.Color) []byte {
	canvas := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			canvas.Set(x, y, c)
		}
	}
	var out bytes.Buffer
	_ = png.Encode(&out, canvas)
	return out.Bytes()
}

// upload sends a file as a form does.
func upload(name string, content []byte) func(*request) {
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	_ = parts.SetBoundary("replay-boundary")
	part, _ := parts.CreateFormFile("file", name)
	_, _ = part.Write(content)
	_ = parts.Close()
	return func(r *request) {
		r.Bytes = body.Bytes()
		r.Headers["Content-Type"] = parts.FormDataContentType()
	}
}

// everyRoute fails when a route that the binary serves was never asked.
func (rec *recorder) everyRoute() error {
	var missing []string
	routes, _ := rec.routes()
	for _, r := range routes {
		pattern := regexp.MustCompile("^" + r.method + " " + pathPart.ReplaceAllString(r.path, `[^/]+`) + "$")
		called := false
		for path := range rec.requested {
			called = called || pattern.MatchString(path)
		}
		if !called {
			missing = append(missing, r.method+" "+r.path)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("never asked: %s", strings.Join(missing, ", "))
	}
	return nil
}

var pathPart = regexp.MustCompile(`\{[^}]+\}`)

type route struct{ method, path, auth string }

// routes are those of GET /routes, which lists all that the binary serves.
func (rec *recorder) routes() ([]route, error) {
	for _, p := range rec.pairs {
		body, ok := p.Answer.Body.(object)
		if p.Request.Path != "/api/v1/routes" || !ok || body["routes"] == nil {
			continue
		}
		var list []route
		for _, r := range body["routes"].([]any) {
			r := r.(object)
			list = append(list, route{r["method"].(string), r["path"].(string), r["auth"].(string)})
		}
		return list, nil
	}
	return nil, errors.New("the story never asked for GET /routes")
}
