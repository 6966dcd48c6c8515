package app

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"marquee/platform/mail"
	"marquee/platform/tracing"
)

// flushTime is how long a process that ends delivers spans, within the time that it has to end in.
const flushTime = 2 * time.Second

// header is one of TRACES_HEADERS.
var header = regexp.MustCompile("^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([\\x20-\\x7e]+)$")

// headers are those of each delivery. The error names none of them, which are secret.
func (t Traces) headers() (map[string]string, error) {
	all := map[string]string{}
	for _, text := range t.Headers {
		m := header.FindStringSubmatch(text)
		if m == nil {
			return nil, errors.New("it is not of the form name=value")
		}
		all[m[1]] = strings.TrimSpace(m[2])
	}
	return all, nil
}

// tracer records the spans of the process that has this name in traces; nil where nothing is traced.
func (t Traces) tracer(service string, log *slog.Logger, metrics prometheus.Registerer) (*tracing.Tracer, error) {
	if t.URL == "" || service == "" {
		return nil, nil //nolint:nilnil // of tracing.Tracer nil is one that does nothing
	}
	headers, err := t.headers()
	if err != nil {
		return nil, err
	}
	return tracing.New(tracing.Config{
		URL: t.URL, Headers: headers, Ratio: t.Ratio, Service: service, Version: Version(), Log: log, Metrics: metrics,
	}), nil
}

// flush delivers the last spans of a process that ends, in what is left of the time that it has.
//
//nolint:contextcheck // the contexts of such a process have ended
func (a *App) flush() {
	most := flushTime
	if by, draining := a.endBy.Load().(time.Time); draining {
		most = min(most, time.Until(by))
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	a.observed.tracer.Close(ctx)
}

// tracedMail is a sender whose mails have a span each. Nobody's address is in it.
type tracedMail struct {
	mail.Sender
	tracer *tracing.Tracer
}

// Send implements mail.Sender.
func (t tracedMail) Send(ctx context.Context, m mail.Message) error {
	ctx, end := t.tracer.StartCall(ctx, "send mail")
	err := t.Sender.Send(ctx, m)
	end(err)
	return err
}
