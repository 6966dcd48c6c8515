package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// OddResponse is an answer that is none, as a proxy, a wrong address or a broken gateway gives it.
type OddResponse string

// The odd answers.
const (
	OddEmpty     OddResponse = "empty"     // no body
	OddObject    OddResponse = "object"    // {}
	OddNull      OddResponse = "null"      // null
	OddList      OddResponse = "list"      // []
	OddHTML      OddResponse = "html"      // a proxy's page
	OddForeign   OddResponse = "foreign"   // the true answer with another object's id, in the rows of a list, too
	OddError     OddResponse = "error"     // the gateway's own form of an error, whatever the status
	OddTruncated OddResponse = "truncated" // the first half of the true answer
	OddHuge      OddResponse = "huge"      // the true answer and 10 MB of blanks
)

// OddResponses are all of them.
var OddResponses = []OddResponse{
	OddEmpty, OddObject, OddNull, OddList, OddHTML, OddForeign, OddError, OddTruncated, OddHuge,
}

// hugeBlanks is how many blanks a huge answer has.
const hugeBlanks = 10 << 20

const proxyPage = "<html>\r\n<head><title>Error</title></head>\r\n<body>\r\n<center><h1>The page cannot be shown.</h1></center>\r\n</body>\r\n</html>\r\n"

// NeedsEffect tells that the answer is made of the true one.
func (a OddResponse) NeedsEffect() bool { return a == OddForeign || a == OddTruncated }

func (f Fault) checkOdd() error {
	known := false
	for _, a := range OddResponses {
		known = known || a == f.Answer
	}
	switch {
	case !known:
		return fmt.Errorf("unknown odd answer %q", f.Answer)
	case f.Kind == FaultOdd && f.Answer.NeedsEffect():
		return fmt.Errorf("the odd answer %q is made of the true one: use odd_after", f.Answer)
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status %d is not between 200 and 599", f.Status)
	case f.Times < 0 || f.Delay < 0:
		return errors.New("times and delay must not be negative")
	}
	return nil
}

// writeOdd turns the true answer, empty when there was no effect, into an odd one.
func (s *Stage) writeOdd(ans *response, f *Fault) {
	body := s.odd(f.Answer, bytes.Clone(ans.body.Bytes()), f.Status)
	kind := "application/json"
	if f.Answer == OddHTML {
		kind = "text/html"
	}
	ans.header.Set("Content-Type", kind)
	ans.status = f.Status
	ans.body.Reset()
	ans.body.Write(body)
}

func (s *Stage) odd(a OddResponse, whole []byte, status int) []byte {
	switch a {
	case OddObject:
		return []byte("{}")
	case OddNull:
		return []byte("null")
	case OddList:
		return []byte("[]")
	case OddHTML:
		return []byte(proxyPage)
	case OddForeign:
		return foreign(whole)
	case OddError:
		return s.errorForm(status)
	case OddTruncated:
		return whole[:len(whole)/2]
	case OddHuge:
		if len(whole) == 0 {
			whole = []byte("{}")
		}
		return append(whole, bytes.Repeat([]byte(" "), hugeBlanks)...)
	}
	return nil
}

// errorForm is the gateway's own form of an error; it has one for each status but those whose body is empty.
func (s *Stage) errorForm(status int) []byte {
	if s.opts.FaultBody == nil {
		return []byte("{}")
	}
	if body := s.opts.FaultBody(status); len(body) > 0 {
		return body
	}
	return s.opts.FaultBody(http.StatusInternalServerError)
}

// foreign gives the object, or each row of a list, the id of something else. What has no id stays as it is.
func foreign(whole []byte) []byte {
	var o map[string]json.RawMessage
	if json.Unmarshal(whole, &o) != nil {
		return whole
	}
	if id, is := o["id"]; is {
		o["id"] = another(id)
	}
	var rows []json.RawMessage
	if json.Unmarshal(o["data"], &rows) == nil && rows != nil {
		for i := range rows {
			rows[i] = foreign(rows[i])
		}
		o["data"], _ = json.Marshal(rows) // raw JSON can always be written
	}
	out, err := json.Marshal(o)
	if err != nil {
		return whole
	}
	return out
}

// another is an id of the same form: its digits and letters moved on by one.
func another(id json.RawMessage) json.RawMessage {
	var s string
	if json.Unmarshal(id, &s) != nil {
		return id
	}
	prefix, rest, found := strings.Cut(s, "_")
	if !found {
		prefix, rest = "", s
	} else {
		prefix += "_"
	}
	out, _ := json.Marshal(prefix + strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r < '9', r >= 'a' && r < 'f':
			return r + 1
		case r == '9':
			return '0'
		}
		return r
	}, rest))
	return out
}
