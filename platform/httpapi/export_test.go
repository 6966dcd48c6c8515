package httpapi

import "time"

// BodyReadTimeout is how long an operation's body may take to arrive.
func BodyReadTimeout(d time.Duration) Option {
	return func(o *operation) { o.BodyReadTimeout = d }
}
