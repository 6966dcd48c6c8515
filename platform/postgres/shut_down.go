package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// IsShutDown reports whether the server has ended the session, or takes none: because it stops, starts or recovers, or
// as an operator has told it to.
func IsShutDown(err error) bool {
	c := code(err)
	return strings.HasPrefix(c, "57P") || strings.HasPrefix(c, "08")
}

// IsGone reports whether the error is one of the connection, or of a server that ends or starts: the same may well
// succeed on another connection. Whether what was asked has been done is not known.
func IsGone(err error) bool {
	var connecting *pgconn.ConnectError
	var network net.Error
	var calling *url.Error // of another server, asked by HTTP
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return false
	case IsServers(err):
		return IsShutDown(err)
	case errors.As(err, &calling):
		return false
	}
	return errors.As(err, &connecting) || errors.As(err, &network) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, pgconn.ErrConnClosed)
}
