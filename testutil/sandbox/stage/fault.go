package stage

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// FaultKind says what goes wrong with a call.
type FaultKind string

// The faults. "Before" means that the call has no effect at the gateway, "after" that it has its full effect and the
// caller does not learn of it; the call's idempotency key, where the gateway has such, is then taken as after any
// effect.
const (
	FaultStatus        FaultKind = "status"         // answers Status and Body; no effect
	FaultStatusAfter   FaultKind = "status_after"   // the effect, then Status and Body
	FaultTimeoutBefore FaultKind = "timeout_before" // no effect, no answer until the caller hangs up
	FaultTimeoutAfter  FaultKind = "timeout_after"  // the effect, no answer until the caller hangs up
	FaultResetBefore   FaultKind = "reset_before"   // no effect, connection reset
	FaultResetAfter    FaultKind = "reset_after"    // the effect, connection reset
	FaultBadGateway    FaultKind = "bad_gateway"    // a proxy's 502 page in HTML; no effect
	FaultOdd           FaultKind = "odd"            // no effect, then Answer with Status
	FaultOddAfter      FaultKind = "odd_after"      // the effect, then Answer with Status
	FaultDelay         FaultKind = "delay"          // waits Delay, then all goes well
)

// badGatewayPage is what a load balancer in front of a gateway answers.
const badGatewayPage = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"

// Fault is planned for the next calls that match.
type Fault struct {
	Method string            `json:"method,omitempty"` // empty: any
	Path   string            `json:"path,omitempty"`   // prefix of the path; empty: any
	Suffix string            `json:"suffix,omitempty"` // end of the path; empty: any
	Kind   FaultKind         `json:"kind"`
	Status int               `json:"status,omitempty"` // for status faults, default 500; for odd ones, default 200
	Answer OddResponse       `json:"answer,omitempty"` // for odd faults
	Body   string            `json:"body,omitempty"`   // for status faults; default: Options.FaultBody's
	Header map[string]string `json:"header,omitempty"` // for status faults, e.g. RateLimit-Reset
	Delay  Duration          `json:"delay,omitempty"`  // for delay; for others time to wait before the fault
	Times  int               `json:"times,omitempty"`  // how many calls; default 1
}

func (f Fault) check() error {
	switch f.Kind {
	case FaultStatus, FaultStatusAfter:
		if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
			return fmt.Errorf("status %d is not between 200 and 599", f.Status)
		}
	case FaultOdd, FaultOddAfter:
		return f.checkOdd()
	case FaultTimeoutBefore, FaultTimeoutAfter, FaultResetBefore, FaultResetAfter, FaultBadGateway:
	case FaultDelay:
		if f.Delay <= 0 {
			return errors.New("a delay fault needs a delay")
		}
	default:
		return fmt.Errorf("unknown fault kind %q", f.Kind)
	}
	if f.Times < 0 || f.Delay < 0 {
		return errors.New("times and delay must not be negative")
	}
	return nil
}

func (f Fault) matches(r *http.Request) bool {
	return (f.Method == "" || strings.EqualFold(f.Method, r.Method)) && strings.HasPrefix(r.URL.Path, f.Path) &&
		strings.HasSuffix(r.URL.Path, f.Suffix)
}

// Faults are the planned faults, used up in the order of planning.
type Faults struct {
	mu      sync.Mutex
	planned []Fault
}

// Plan adds a fault for the next matching calls.
func (fs *Faults) Plan(f Fault) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.Times == 0 {
		f.Times = 1
	}
	switch {
	case f.Status != 0:
	case f.Kind == FaultStatus || f.Kind == FaultStatusAfter:
		f.Status = http.StatusInternalServerError
	case f.Kind == FaultOdd || f.Kind == FaultOddAfter:
		f.Status = http.StatusOK
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.planned = append(fs.planned, f)
	return nil
}

// Planned lists the faults not yet used up.
func (fs *Faults) Planned() []Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return append([]Fault{}, fs.planned...)
}

// Clear takes all planned faults back.
func (fs *Faults) Clear() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.planned = nil
}

// take uses up one call of the first fault that matches.
func (fs *Faults) take(r *http.Request) *Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for i := range fs.planned {
		if !fs.planned[i].matches(r) {
			continue
		}
		f := fs.planned[i]
		if fs.planned[i].Times--; fs.planned[i].Times == 0 {
			fs.planned = append(fs.planned[:i:i], fs.planned[i+1:]...)
		}
		return &f
	}
	return nil
}

// Duration is a time.Duration that is written "1m30s" in JSON.
type Duration time.Duration

// MarshalText writes the Go form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the Go form, and days as in "32d".
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	if days, found := strings.CutSuffix(s, "d"); found {
		hours, err := time.ParseDuration(days + "h")
		if err != nil {
			return fmt.Errorf("duration %q: want a form like 90s, 24h or 32d", s)
		}
		*d = Duration(hours * 24)
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("duration %q: want a form like 90s, 24h or 32d", s)
	}
	*d = Duration(v)
	return nil
}
