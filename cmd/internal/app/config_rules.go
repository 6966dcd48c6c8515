package app

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	platformmail "marquee/platform/mail"
	"marquee/platform/telemetry"
)

// minSecret is the shortest key or token that is accepted.
const minSecret = 32

// Problem is what is wrong with one variable.
type Problem struct{ Key, Sentence string }

// problems are collected while the rules are gone through.
type problems []Problem

// need adds a sentence about the variable unless ok. No sentence shows a secret.
func (p *problems) need(ok bool, key, sentence string, args ...any) {
	if !ok {
		*p = append(*p, Problem{key, key + " " + fmt.Sprintf(sentence, args...)})
	}
}

func (p problems) err() error {
	all := make([]error, len(p))
	for i, found := range p {
		all[i] = errors.New(found.Sentence)
	}
	return errors.Join(all...)
}

// Validate says in a sentence each what is missing, wrong or too weak to serve with.
func (c Config) Validate() error { return c.problems().err() }

func (c Config) problems() problems {
	var p problems
	c.checkNumbers(&p)
	c.checkDatabase(&p)
	c.checkAddresses(&p)
	c.checkSecrets(&p)
	c.checkMail(&p)
	c.checkGateways(&p)
	c.checkTraces(&p)
	_, err := telemetry.NewLog(io.Discard, c.Platform.LogLevel)
	p.need(err == nil, "LOG_LEVEL", "has to be debug, info, warn or error.")
	p.need(c.Platform.LogOneIn >= 1, "LOG_ONE_IN", "has to be 1 or more.")
	for _, v := range []struct{ key, value string }{
		{"WEB", c.Web.Pages}, {"SITE", c.Web.Site}, {"PASSWORD_LIST", c.Accounts.PasswordList},
	} {
		p.need(v.value == "on" || v.value == "off", v.key, "is neither on nor off.")
	}
	_, err = c.location()
	p.need(err == nil && c.Platform.ReportTZ != "Local" && c.Platform.ReportTZ != "", "REPORT_TZ",
		"is not a time zone such as America/Sao_Paulo.")
	p.need(rising(c.Subscriptions.DunningDays), "DUNNING_DAYS",
		"has to be days from 0 to 60, each later than the one before, such as 0,3,7.")
	p.need(retryDays(c.Subscriptions.PixRetryDays), "PIX_RETRY_DAYS",
		"has to be one to three days from 1 to 7, each later than the one before, such as 1,3,6.")
	return p
}

// checkNumbers refuses what is below 0, and 0 where it has no meaning.
func (c Config) checkNumbers(p *problems) {
	for _, v := range variables(&c) {
		if !v.field.CanInt() {
			continue
		}
		n := v.field.Int()
		p.need(n >= 0, v.key, "is below 0.")
		p.need(n != 0 || v.zero, v.key, "is 0, which has no meaning.")
	}
	p.need(c.Tickets.RefundsPerSecond <= 50, "EVENT_REFUNDS_PER_SECOND", "is above 50.")
	short := func(key string, d, least time.Duration, text string) {
		p.need(d <= 0 || d >= least, key, "is shorter than %s.", text)
	}
	p.need(c.Database.MaxConns <= 0 || c.Database.MaxConns >= 4, "DATABASE_MAX_CONNS",
		"is below 4: 2 connections are kept for webhooks, health and tokens.")
	short("DATABASE_WAIT", c.Database.Wait, time.Millisecond, "a millisecond")
	short("DATABASE_LOCK_WAIT", c.Database.LockWait, time.Millisecond, "a millisecond")
	short("DATABASE_REPLICA_MAX_LAG", c.Database.ReplicaMaxLag, time.Second, "a second")
	p.need(c.Database.ReplicaMaxLag <= mostLag, "DATABASE_REPLICA_MAX_LAG", "is above 30 minutes.")
	short("STREAM_URL_TTL", c.Streams.TTL, time.Second, "a second")
	short("EXPORT_TTL", c.Exports.TTL, time.Minute, "a minute")
	short("EXPORT_LINK_TTL", c.Exports.LinkTTL, time.Second, "a second")
}

func (c Config) checkDatabase(p *problems) {
	connection := func(key, text string) {
		_, err := pgxpool.ParseConfig(text)
		// The cause may hold the password.
		p.need(err == nil, key, "is no Postgres connection string such as postgres://marquee:…@db/marquee.")
	}
	p.need(c.Database.URL != "", "DATABASE_URL", "is missing: the Postgres connection string.")
	connection("DATABASE_URL", c.Database.URL)
	for _, url := range c.Database.replicas() {
		connection("DATABASE_REPLICA_URL", url)
	}
	connection("DATABASE_DIRECT_URL", c.Database.DirectURL)
	known := c.Database.Pooler == "" || c.Database.Pooler == transactionPooler
	p.need(known, "DATABASE_POOLER", "has to be transaction, or empty for none.")
	p.need(!known || c.Database.PollOnly || c.Database.hasSessions(), "DATABASE_DIRECT_URL",
		"is missing: a pooler passes no LISTEN on, by which work hears of jobs. Or set DATABASE_POLL_ONLY=true.")
}

// origin is what browsers send as Origin, in which one star may stand for anything.
var origin = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://(\[[0-9a-f:]+\]|[a-z0-9*][a-z0-9*._-]*)(:[0-9]{1,5})?$`)

func (c Config) checkAddresses(p *problems) {
	p.need(listens(c.HTTP.Addr), "ADDR", "has to be an address to listen on, such as :8080 or 127.0.0.1:8080.")
	for key, text := range map[string]string{
		"METRICS_ADDR": c.HTTP.MetricsAddr, "WORK_METRICS_ADDR": c.HTTP.WorkMetricsAddr,
	} {
		p.need(text == "off" || listens(text), key, "has to be an address to listen on, such as 127.0.0.1:9090, or off.")
	}
	u := webAddress(c.HTTP.PublicURL)
	p.need(c.HTTP.PublicURL != "", "PUBLIC_URL", "is missing: an address such as https://api.example.com.")
	p.need(c.HTTP.PublicURL == "" || u != nil && u.Path == "", "PUBLIC_URL",
		"has to be scheme and host alone, such as https://api.example.com.")
	for _, text := range c.HTTP.CORSOrigins {
		one := strings.Count(text, "*") <= 1
		p.need(text == "*" || one && origin.MatchString(text), "CORS_ORIGINS",
			"has %q, which is no origin: scheme and host in lower case, without a path, such as https://app.example.com; or * for all.", redact(text))
	}
	c.checkPasskeys(p)
	if _, err := c.trustedProxies(); err != nil {
		*p = append(*p, Problem{"TRUSTED_PROXIES", err.Error()})
	}
}

// domain is the name of a host in lower case, and no address.
var domain = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?$`)

func (c Config) checkPasskeys(p *problems) {
	site, origins := c.passkeySite()
	if c.Passkeys.RPID != "" && !domain.MatchString(c.Passkeys.RPID) {
		p.need(false, "PASSKEY_RP_ID", "has to be a domain in lower case, such as example.com.")
		return
	}
	for _, text := range origins {
		u := webAddress(text)
		within := u != nil && (u.Hostname() == site || strings.HasSuffix(u.Hostname(), "."+site))
		if len(c.Passkeys.Origins) == 0 {
			p.need(within, "PASSKEY_RP_ID",
				"is no domain of PUBLIC_URL; say in PASSKEY_ORIGINS whose pages may use passkeys.")
			continue
		}
		p.need(within && u.Path == "" && origin.MatchString(text) && !strings.Contains(text, "*"), "PASSKEY_ORIGINS",
			"has %q, which is no origin of %s or below it, such as https://www.example.com.", redact(text), site)
	}
}

func (c Config) checkSecrets(p *problems) {
	for _, pair := range strings.Split(c.Keys.Tokens, ",") {
		id, key, ok := strings.Cut(strings.TrimSpace(pair), ":")
		if !ok || id == "" || len(key) < minSecret {
			p.need(false, "TOKEN_KEYS",
				"is missing or has a key that is not of the form kid:secret with at least 32 characters.")
			break
		}
	}
	p.need(len(c.Keys.File) >= minSecret, "FILE_KEY", "is missing or shorter than 32 characters.")
	p.need(c.Streams.Key == "" || len(c.Streams.Key) >= minSecret, "STREAM_URL_KEY", "is shorter than 32 characters.")
	p.need(c.Keys.Trial == "" || len(c.Keys.Trial) >= minSecret, "TRIAL_KEY", "is shorter than 32 characters.")
}

func (c Config) checkMail(p *problems) {
	if c.Mail.SMTPURL == "" {
		p.need(false, "SMTP_URL", "is missing: without it no code reaches anybody.")
	} else if _, err := platformmail.NewSMTP(c.Mail.SMTPURL, "no-reply@localhost"); err != nil {
		p.need(false, "SMTP_URL",
			"has to look like smtp://user:password@host:587 or smtps://….") // the cause may hold the password
	}
	_, err := mail.ParseAddress(c.Mail.From)
	p.need(err == nil, "MAIL_FROM", `has to be a mail address, such as "Marquee <no-reply@example.com>".`)
	for _, text := range c.Mail.Operators {
		a, err := mail.ParseAddress(text)
		p.need(err == nil && a.Address == text, "OPERATORS_MAIL", "has %q, which is no mail address.", text)
	}
}

func (c Config) checkGateways(p *problems) {
	p.need(webAddress(c.GatewayA.URL) != nil, "GWA_URL", "has to be an address such as https://api.asaas.com/v3.")
	p.need(webAddress(c.GatewayB.URL) != nil, "GWB_URL", "has to be an address such as https://api.stripe.com.")
	p.need(c.GatewayA.APIKey != "", "GWA_API_KEY", "is missing.")
	p.need(c.GatewayB.SecretKey != "", "GWB_SECRET_KEY", "is missing.")
	p.need(strong(c.GatewayA.WebhookTokens), "GWA_WEBHOOK_TOKEN", "is missing or shorter than 32 characters.")
	p.need(strong(c.GatewayB.WebhookSecrets), "GWB_WEBHOOK_SECRET", "is missing or shorter than 32 characters.")
}

func (c Config) checkTraces(p *problems) {
	p.need(c.Traces.URL == "" || webAddress(c.Traces.URL) != nil, "TRACES_URL",
		"has to be an address such as http://127.0.0.1:4318.")
	p.need(c.Traces.Ratio > 0 && c.Traces.Ratio <= 1, "TRACES_RATIO", "has to be above 0, and 1 at most.")
	_, err := c.Traces.headers()
	p.need(err == nil, "TRACES_HEADERS", "has to be name=value, comma-separated, such as authorization=Bearer ….")
}

// webAddress reads the address of a web service: http or https, a host, perhaps a path,
// and nothing else. nil is none.
func webAddress(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.ForceQuery ||
		strings.ContainsAny(text, "# \t") || u.Port() == "" && strings.HasSuffix(u.Host, ":") {
		return nil
	}
	if port := u.Port(); port != "" && !isPort(port, 1) {
		return nil
	}
	return u
}

// listens reports whether the text is a host, which may be empty, and a port, which
// may be 0 for a free one.
func listens(text string) bool {
	host, port, err := net.SplitHostPort(text)
	return err == nil && isPort(port, 0) && !strings.ContainsAny(host, "/ ")
}

func isPort(text string, least uint64) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n >= least
}

func rising(days []int) bool {
	last := -1
	for _, day := range days {
		if day <= last || day > 60 {
			return false
		}
		last = day
	}
	return true
}

// retryDays are what gateway A takes.
func retryDays(days []int) bool {
	return rising(days) && len(days) >= 1 && len(days) <= 3 && days[0] >= 1 && days[len(days)-1] <= 7
}

func strong(secrets []string) bool {
	for _, s := range secrets {
		if len(s) < minSecret {
			return false
		}
	}
	return len(secrets) > 0
}
