// Package app is the composition root: it reads the configuration, builds every
// module once, lower first, and runs them as API, workers, or both.
package app

import (
	"fmt"
	"net/netip"
	"time"

	"marquee/platform/postgres"
	"marquee/platform/resource"
	"marquee/platform/secret"
)

// Config is the whole configuration, a struct for each thing that is configured. Each of
// their fields is an environment variable, whose name begins with the struct's prefix;
// `marquee serve --help` prints them in this order with these texts. A variable tagged
// secret may be read from a file and is never printed, one tagged zero has a meaning for 0.
type Config struct {
	Database      Database `envPrefix:"DATABASE_"`
	HTTP          HTTP
	Web           Web
	Platform      Platform
	Keys          Keys
	Accounts      Accounts
	Passkeys      Passkeys `envPrefix:"PASSKEY_"`
	Codes         Codes    `envPrefix:"CODE_"`
	Throttle      Throttle
	LoginSync     LoginSync `envPrefix:"LOGIN_SYNC_"`
	Streams       Streams   `envPrefix:"STREAM_URL_"`
	Files         Files
	GatewayA      GatewayA `envPrefix:"GWA_"`
	GatewayB      GatewayB `envPrefix:"GWB_"`
	Payments      Payments
	Subscriptions Subscriptions
	Tickets       Tickets
	Promos        Promos `envPrefix:"PROMO_TRIES_"`
	Mail          Mail
	Exports       Exports `envPrefix:"EXPORT_"`
	Traces        Traces  `envPrefix:"TRACES_"`
}

// Database is the database, and what requests may wait for it.
type Database struct {
	URL           string        `env:"URL" secret:"yes" doc:"Postgres connection string, such as postgres://marquee:…@db/marquee."`
	ReplicaURL    string        `env:"REPLICA_URL" secret:"yes" doc:"Streaming replicas for reads that may lag, such as postgres://marquee:…@replica1/marquee,postgres://marquee:…@replica2/marquee; empty means the primary."`
	ReplicaMaxLag time.Duration `env:"REPLICA_MAX_LAG" envDefault:"10s" doc:"How far a replica may be behind; beyond it nothing is read there until it has caught up."`
	Pooler        string        `env:"POOLER" doc:"transaction where DATABASE_URL is a pooler's that lends a session of Postgres to each transaction, as PgBouncer does with pool_mode = transaction; empty for none."`
	DirectURL     string        `env:"DIRECT_URL" secret:"yes" doc:"Postgres itself, beside a pooler: for LISTEN, by which work hears of jobs, for migrations and for the commands of operators; empty: DATABASE_URL."`
	PollOnly      bool          `env:"POLL_ONLY" doc:"Work jobs without LISTEN: they start up to half a second later. For a pooler beside which there is no DATABASE_DIRECT_URL."`
	MaxConns      int32         `env:"MAX_CONNS" envDefault:"20" doc:"Connections that this process opens at most for what it writes, and as many again for lists, on the primary and on each replica; at least 4; GET /health has 2 more of its own. A fifth of the former, at least 2, is kept for webhooks, health, POST /token and the refresh."`
	Wait          time.Duration `env:"WAIT" envDefault:"1s" zero:"yes" doc:"Longest that a request waits for a connection to the database; then 503 SERVICE_BUSY. 0: as long as it takes, without a reserve for webhooks, health and tokens."`
	LockWait      time.Duration `env:"LOCK_WAIT" envDefault:"2s" zero:"yes" doc:"Longest that a request waits for a lock of the database, a list at most 1s; then 503 SERVICE_BUSY. 0: as long as it takes, as jobs do."`
}

// HTTP is where and for whom the API is served.
type HTTP struct {
	InFlight        int           `env:"REQUESTS_IN_FLIGHT" zero:"yes" doc:"Requests that are worked on at once; further ones are 503 SERVICE_BUSY. 0: 64 for each core."`
	Addr            string        `env:"ADDR" envDefault:":8080" doc:"Address on which the API listens."`
	MetricsAddr     string        `env:"METRICS_ADDR" envDefault:"127.0.0.1:9090" doc:"Address of GET /metrics and of the profiles below /debug/pprof/ of marquee serve, for operators alone; off for none."`
	WorkMetricsAddr string        `env:"WORK_METRICS_ADDR" envDefault:"127.0.0.1:9091" doc:"Address of GET /metrics, /livez, /readyz and the profiles of marquee work; off for none. Where it is taken, as by another work on the machine, work goes on without."`
	DrainDelay      time.Duration `env:"DRAIN_DELAY" envDefault:"5s" zero:"yes" doc:"How long serve goes on answering after SIGTERM, while GET /readyz is 503 already: as long as whoever routes requests here needs to see it. 0: not at all. Then what is under way has 20 s."`
	PublicURL       string        `env:"PUBLIC_URL" doc:"Scheme and host under which clients reach the service, such as https://api.example.com."`
	CORSOrigins     []string      `env:"CORS_ORIGINS" envDefault:"*" doc:"Origins whose pages may call the API, comma-separated."`
	TrustedProxies  []string      `env:"TRUSTED_PROXIES" doc:"Addresses or networks of proxies whose X-Forwarded-For and traceparent are believed, comma-separated."`
}

// Web is what browsers are shown beside the API.
type Web struct {
	Pages string `env:"WEB" envDefault:"on" doc:"Whether pages are served beside the API: the console at /console/, the door at /door/, the site, or else a page about the platform, at /; on or off. /api/v1/docs is there either way."`
	Site  string `env:"SITE" envDefault:"on" doc:"off serves the staff's pages alone: neither the site nor the door; on or off."`
}

// Platform is what holds for all modules.
type Platform struct {
	LogLevel          string `env:"LOG_LEVEL" envDefault:"info" doc:"debug, info, warn or error."`
	LogOneIn          int    `env:"LOG_ONE_IN" envDefault:"1" doc:"Of the requests that read the catalogue or GET /health and went well, one in so many has its line in the log; all others have theirs."`
	ReportTZ          string `env:"REPORT_TZ" envDefault:"America/Sao_Paulo" doc:"Time zone of billing periods and reports."`
	TaxIDAlphanumeric bool   `env:"TAX_ID_ALPHANUMERIC" envDefault:"true" doc:"Whether the CNPJ with letters, in force since July 2026, is taken."`
}

// Keys are the keys that others are derived from.
type Keys struct {
	Tokens string `env:"TOKEN_KEYS" secret:"yes" doc:"Keys of the access tokens, kid:secret,…; the first signs, all verify. Secrets of at least 32 characters."`
	File   string `env:"FILE_KEY" secret:"yes" doc:"Master key of what is keyed at rest: public file ids and mailed codes; at least 32 characters."`
	Trial  string `env:"TRIAL_KEY" secret:"yes" doc:"Key, at least 32 characters, of the hashes that limit a tax id to one trial in 24 months; empty: derived from FILE_KEY. After a change of the key everyone may have a trial again."`
}

// Accounts is how people sign up and stay signed in.
type Accounts struct {
	AccessTokenTTL           time.Duration `env:"ACCESS_TOKEN_TTL" envDefault:"12h" doc:"Life of an access token."`
	RefreshTokenTTL          time.Duration `env:"REFRESH_TOKEN_TTL" envDefault:"720h" doc:"Life of a refresh token."`
	UnverifiedTTL            time.Duration `env:"UNVERIFIED_TTL" envDefault:"720h" doc:"After it an account that was to be verified at signup, never was and bought nothing is removed."`
	DeviceTTL                time.Duration `env:"DEVICE_TTL" envDefault:"2160h" doc:"How long a device that somebody signed in on is known: there, wrong passwords from elsewhere make nobody wait."`
	EmailChangeNeedsPassword bool          `env:"EMAIL_CHANGE_NEEDS_PASSWORD" doc:"Makes current_password compulsory where somebody changes their own e-mail. The old address is always notified, with a link that undoes it for 7 days."`
	MFARequiredForRoot       bool          `env:"MFA_REQUIRED_FOR_ROOT" doc:"Root users have root's rights only in sessions that a second factor began; in others they may do what every user may, such as set one up."`
	PasswordList             string        `env:"PASSWORD_LIST" envDefault:"on" doc:"on refuses the 10,000 commonest passwords and one's own e-mail or name as passwords; off takes them."`
	LogUnsentCodes           bool          `env:"LOG_UNSENT_CODES" doc:"Logs a code that could not be mailed. For development only."`
}

// Passkeys are for a site: what one site registers, no other gets to sign.
type Passkeys struct {
	RPID    string   `env:"RP_ID" doc:"Domain that passkeys belong to, and all of whose subdomains may use them, such as example.com; empty: the host of PUBLIC_URL, localhost where that is a loopback address, and no passkeys where it is another address. After a change of it no passkey is good any more."`
	Origins []string `env:"ORIGINS" doc:"Origins of the pages that may use passkeys, each of the domain or below it, comma-separated; empty: that of PUBLIC_URL, with localhost in place of a loopback address."`
}

// Codes are the digits and links that are mailed.
type Codes struct {
	TTL         time.Duration `env:"TTL" envDefault:"15m" doc:"Life of a mailed code."`
	Cooldown    time.Duration `env:"COOLDOWN" envDefault:"60s" doc:"Time between two code mails to one address."`
	Attempts    int           `env:"ATTEMPTS" envDefault:"5" doc:"Wrong codes after which a code stops working."`
	Failures    int           `env:"FAILURES" envDefault:"10" doc:"Wrong codes in a row at one account, over several codes, before the next attempt has to wait."`
	MailsPerDay int           `env:"MAILS_PER_DAY" envDefault:"20" doc:"Mails to one recipient in a day (UTC) that anybody can ask for: codes for all purposes, and guests' tickets of free events, together."`
}

// Throttle is how whoever guesses is slowed down.
type Throttle struct {
	LoginFailures   int           `env:"LOGIN_FAILURES" envDefault:"10" doc:"Wrong passwords in a row at one account before the next attempt has to wait."`
	AddressFailures int           `env:"ADDRESS_FAILURES" envDefault:"100" doc:"Wrong passwords or codes in a row from one client address before it has to wait."`
	UnknownResets   int           `env:"UNKNOWN_RESETS" envDefault:"10" doc:"Resets in a row for addresses without an account, from one client address, before it has to wait."`
	Wait            time.Duration `env:"THROTTLE_WAIT" envDefault:"1s" doc:"First wait after too many failures; each further failure doubles it."`
	WaitMax         time.Duration `env:"THROTTLE_WAIT_MAX" envDefault:"15m" doc:"Longest wait after too many failures."`
	Off             bool          `env:"NO_THROTTLE" doc:"Lifts the limits per address, and those on wrong passwords and codes, promo codes, mails, unpaid places and card payments under way. For load tests only."`
}

// LoginSync is what a login asks a gateway.
type LoginSync struct {
	Wait      time.Duration `env:"WAIT" envDefault:"1500ms" doc:"Longest that a login waits for the gateway's answer about the subscription; after that a job asks."`
	PerMinute int           `env:"PER_MINUTE" envDefault:"10" doc:"Logins a minute that ask a gateway, of all customers together; gateway A allows 25,000 calls in 12 hours."`
}

// Streams are the signed URLs of videos.
type Streams struct {
	Key string        `env:"KEY" secret:"yes" doc:"Key of at least 32 characters that signs stream URLs, of files and of HLS directories, shared with whoever serves the videos (docs/streaming.md); empty: one derived from FILE_KEY."`
	TTL time.Duration `env:"TTL" envDefault:"4h" doc:"Life of a stream URL; a player asks for the next one before it ends."`
}

// Files is what may be stored, and for how long an archive may be fetched.
type Files struct {
	MaxImageBytes      int64         `env:"MAX_IMAGE_BYTES" envDefault:"5242880" doc:"Largest avatar, event or promo image, in bytes; exactly as many pass."`
	MaxAttachmentBytes int64         `env:"MAX_ATTACHMENT_BYTES" envDefault:"10485760" doc:"Largest attachment or other file, in bytes; exactly as many pass."`
	ArchiveTokenTTL    time.Duration `env:"ARCHIVE_TOKEN_TTL" envDefault:"12h" doc:"Life of an archive token."`
}

// GatewayA is the account at gateway A.
type GatewayA struct {
	URL           string   `env:"URL" envDefault:"https://api.asaas.com/v3" doc:"Base URL of gateway A."`
	APIKey        string   `env:"API_KEY" secret:"yes" doc:"API key of gateway A; quote its leading dollar sign."`
	WebhookTokens []string `env:"WEBHOOK_TOKEN" secret:"yes" doc:"Token that gateway A sends with its webhooks; comma-separated while rotating."`
}

// GatewayB is the account at gateway B.
type GatewayB struct {
	URL            string   `env:"URL" envDefault:"https://api.stripe.com" doc:"Base URL of gateway B."`
	SecretKey      string   `env:"SECRET_KEY" secret:"yes" doc:"Secret key of gateway B."`
	PublishableKey string   `env:"PUBLISHABLE_KEY" doc:"Publishable key of gateway B, given to clients."`
	WebhookSecrets []string `env:"WEBHOOK_SECRET" secret:"yes" doc:"Signing secret of gateway B's webhooks; comma-separated while rotating."`
}

// Payments is how the gateways are asked, and what is given back by itself.
type Payments struct {
	CallTime             time.Duration `env:"GATEWAY_CALL_TIME" envDefault:"75s" doc:"Longest that a call which moves money may take; its outcome is not checked until that time and a fifth of it have passed."`
	RecoveryDelay        time.Duration `env:"RECOVERY_DELAY" envDefault:"1m" doc:"How long a search of the gateways may lag: of a call without an answer the second, third and fourth check that finds nothing count 1, 3 and 7 of it after the end of the call's own time."`
	ReconcilePause       time.Duration `env:"RECONCILE_PAUSE" envDefault:"2s" zero:"yes" doc:"Time between two calls of the reconciliation at gateway A, which allows 25,000 calls in 12 hours. 0: none."`
	AutoRefundsPerHour   int           `env:"AUTO_REFUNDS_PER_HOUR" envDefault:"20" zero:"yes" doc:"Payments that could not be applied and are refunded without a person's decision, in any hour; further ones wait on the list of unapplied payments. 0: none."`
	AutoRefundDailyLimit int64         `env:"AUTO_REFUND_DAILY_LIMIT" envDefault:"500000" zero:"yes" doc:"Sum, in cents, of what is refunded without a person's decision in any 24 hours. 0: nothing."`
	WebhookLogMonths     int           `env:"WEBHOOK_LOG_MONTHS" envDefault:"13" zero:"yes" doc:"Months, before the current one, for which the webhook log is kept; 0 keeps all of it. Events not applied yet stay in any case."`
}

// Subscriptions is when subscriptions begin, fail and end.
type Subscriptions struct {
	PixPendingTTL      time.Duration `env:"PIX_PENDING_TTL" envDefault:"24h" doc:"After it an unpaid PIX subscription can be replaced by a new one."`
	WithdrawalDays     int           `env:"WITHDRAWAL_DAYS" envDefault:"7" zero:"yes" doc:"Days after that of its first payment on which a subscription may be withdrawn from with all money back (CDC, art. 49), counted in REPORT_TZ: until the end of the last one. 0: not offered."`
	RenewPixDays       int           `env:"RENEW_PIX_DAYS" envDefault:"7" doc:"Days before its end from which a subscription paid by PIX can be renewed by another."`
	MaxPaymentFailures int           `env:"MAX_PAYMENT_FAILURES" envDefault:"3" doc:"Failures in a row that suspend a subscription."`
	PastDueSuspends    bool          `env:"PAST_DUE_SUSPENDS" envDefault:"true" doc:"Whether gateway B's past_due suspends at once."`
	DunningDays        []int         `env:"DUNNING_DAYS" envDefault:"0,3,7" doc:"Days after a failed payment on which the customer is mailed about it, rising, comma-separated."`
	PixRetryDays       []int         `env:"PIX_RETRY_DAYS" envDefault:"1,3,6" doc:"Days after its due date on which a debit of automatic PIX that the bank refused is ordered again: at most three, rising, from 1 to 7, comma-separated."`
}

// Tickets is how tickets are sold, given back and checked in.
type Tickets struct {
	MaxPerOrder      int           `env:"MAX_TICKETS_PER_ORDER" envDefault:"10" doc:"Tickets that one order may have."`
	PixTTL           time.Duration `env:"TICKET_PIX_TTL" envDefault:"30m" doc:"How long an unpaid PIX holds the places of a ticket order; at most 10 minutes while more than 30 % of the event's places are held unpaid."`
	WithdrawalDays   int           `env:"TICKET_WITHDRAWAL_DAYS" envDefault:"7" zero:"yes" doc:"Days after that of its payment on which a ticket order may be given back by its buyer with all money (CDC, art. 49), counted in REPORT_TZ: until the end of the last one, as long as no ticket was used. 0: not offered."`
	WithdrawalBefore time.Duration `env:"TICKET_WITHDRAWAL_BEFORE" envDefault:"48h" zero:"yes" doc:"How long before the event begins those days end at the latest. 0: when it begins."`
	RefundsPerSecond int           `env:"EVENT_REFUNDS_PER_SECOND" envDefault:"5" doc:"Orders of called off events that are refunded a second, of all events together; at most 50. Gateways limit how often they may be called, and sell other tickets meanwhile."`
	ScanSkew         time.Duration `env:"SCAN_SKEW" envDefault:"5m" doc:"How far the clock of a door device may be off: a scan uploaded later that tells an instant further ahead of ours, or further before its ticket was issued, is refused."`
	ReadmitWithin    time.Duration `env:"READMIT_WITHIN" envDefault:"30m" doc:"For how long after a ticket was used staff may undo it (POST /tickets/{id}/readmit)."`
}

// Promos are the limits of trying promo codes.
type Promos struct {
	PerMinute  int `env:"PER_MINUTE" envDefault:"30" doc:"Promo codes tried a minute (validated, redeemed, or given at signup or subscribe) by one account, or by one client address where nobody is signed in."`
	PerAddress int `env:"PER_ADDRESS" envDefault:"300" doc:"Promo codes tried a minute from one client address, by all accounts."`
}

// Mail is how mails are sent.
type Mail struct {
	SMTPURL   string   `env:"SMTP_URL" secret:"yes" doc:"Mail server, smtp://user:password@host:587 or smtps://…."`
	From      string   `env:"MAIL_FROM" envDefault:"Marquee <no-reply@localhost>" doc:"Sender of the mails. The name before the address is shown while the branding has none of its own."`
	Operators []string `env:"OPERATORS_MAIL" doc:"Addresses that get mail about what only an operator can repair, such as a gateway that cannot find our subscriptions; comma-separated, empty for none."`
}

// Exports are the files of finance.
type Exports struct {
	SyncRows int64         `env:"SYNC_ROWS" envDefault:"100000" doc:"Rows up to which an export is sent at once; a job writes longer ones."`
	TTL      time.Duration `env:"TTL" envDefault:"24h" doc:"After it the file of an export that a job wrote is removed."`
	LinkTTL  time.Duration `env:"LINK_TTL" envDefault:"15m" doc:"Life of the download link of such a file."`
}

// Traces is where the spans of requests and jobs go.
type Traces struct {
	URL     string   `env:"URL" doc:"Base URL of a collector of OpenTelemetry that takes OTLP over HTTP, such as http://127.0.0.1:4318; empty: nothing is traced."`
	Headers []string `env:"HEADERS" secret:"yes" doc:"Headers of what is delivered there, such as a key: name=value, comma-separated."`
	Ratio   float64  `env:"RATIO" envDefault:"1" doc:"Of the traces that begin here, the part that is recorded, above 0 to 1. One that a trusted proxy began is recorded when the proxy records it."`
}

// passkeySite is for which domain passkeys are, "" for none, and the origins whose pages may use them.
func (c Config) passkeySite() (domain string, origins []string) {
	domain, origins = c.Passkeys.RPID, c.Passkeys.Origins
	u := webAddress(c.HTTP.PublicURL)
	if u == nil {
		return domain, origins
	}
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		if host = ""; addr.IsLoopback() {
			host = "localhost"
		}
	}
	if domain == "" {
		domain = host
	}
	if len(origins) == 0 && host != "" {
		origin := u.Scheme + "://" + host
		if u.Port() != "" {
			origin += ":" + u.Port()
		}
		origins = []string{origin}
	}
	if len(origins) == 0 {
		domain = ""
	}
	return domain, origins
}

// streamURLKey signs stream URLs (docs/streaming.md).
func (c Config) streamURLKey() []byte {
	if c.Streams.Key != "" {
		return []byte(c.Streams.Key)
	}
	return secret.Derive([]byte(c.Keys.File), "stream-url")
}

// trialKey is nil where it is derived from FILE_KEY.
func (c Config) trialKey() []byte {
	if c.Keys.Trial == "" {
		return nil
	}
	return []byte(c.Keys.Trial)
}

func (c Config) location() (*time.Location, error) { return time.LoadLocation(c.Platform.ReportTZ) }

func (c Config) trustedProxies() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range c.HTTP.TrustedProxies {
		p, err := netip.ParsePrefix(text)
		if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
			p, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("TRUSTED_PROXIES has %q, which is not an address or network.", text) //nolint:revive,staticcheck // a sentence for operators
		}
		all = append(all, p)
	}
	return all, nil
}

// gate bounds what requests wait for the database; nil for no bounds.
func (c Config) gate() *postgres.Gate {
	if c.Database.Wait == 0 {
		return nil
	}
	return &postgres.Gate{Wait: c.Database.Wait, LockWait: c.Database.LockWait, Reserve: true}
}

// listGate is gate for lists, whose statements may not run for as long as a lock is
// waited for, and which nothing needs that the reserve is for.
func (c Config) listGate() *postgres.Gate {
	if c.Database.Wait == 0 {
		return nil
	}
	g := &postgres.Gate{Wait: c.Database.Wait, LockWait: resource.LockWait}
	if c.Database.LockWait > 0 {
		g.LockWait = min(c.Database.LockWait, resource.LockWait)
	}
	return g
}
