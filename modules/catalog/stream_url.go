package catalog

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/modules/catalog/plays"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/resource"
	"marquee/platform/secret"
)

const defaultStreamURLTTL = 4 * time.Hour

// streamURL is where a video plays.
type streamURL struct {
	signed string
	ends   time.Time
	play   objectid.ID // "" when none began
}

// streamURL returns the signed address of a video and when it ends: after the
// configured lifetime, or with the video, whichever comes first; an admin's does
// not end with the video. One round trip checks the caller and reads the video.
// 403 without an active subscription; 404 for an unknown video and, unless an
// admin asks, for a disabled or expired one (docs/contract/catalogue.md, Stream URLs).
//
// A play of the caller begins with it, or goes on: 409 TOO_MANY_STREAMS when as many play as their plan allows. A
// member of staff who sees as a customer begins none.
//
// 403 PIN_REQUIRED for a video above the customer's age limit without their PIN, 429 after five wrong ones.
func (s *Service) streamURL(ctx context.Context, video, play objectid.ID, pin secret.Text) (
	stream streamURL, err error,
) {
	now, claims := s.deps.Clock.Now(), httpapi.ClaimsOf(ctx)
	v, err := s.db.ViewerReadStream(ctx, s.deps.Reads, catalogdb.ViewerReadStreamParams{
		UserID: claims.UserID, IssuedAt: claims.IssuedAt, TokenID: claims.TokenID,
		SessionID: claims.SessionID.String(), Now: now, VideoID: video,
	})
	if err != nil {
		return stream, fmt.Errorf("read who asks for a stream: %w", err)
	}
	if err := mayWatch(v.UserType, v.HasAccess); err != nil {
		return stream, err
	}
	admin := v.UserType == httpapi.TypeAdmin
	if v.VideoID == nil || !admin && !isVisible(v.Enable, v.ExpirationDate, now) {
		return stream, errNoVideo()
	}
	if err := permitRating(ctx, s.deps.Accounts, v, pin); err != nil {
		return stream, err
	}
	stream.ends = now.Add(s.deps.StreamURLTTL).Truncate(time.Second)
	if !admin && v.ExpirationDate != nil && v.ExpirationDate.Before(stream.ends) {
		stream.ends = v.ExpirationDate.Truncate(time.Second)
	}
	stream.signed, err = signStream(s.deps.StreamURLKey, *v.VideoID, stream.ends)
	if err != nil || claims.ViewerID != "" {
		return stream, err
	}
	if httpapi.HeadOnly(ctx) { // which begins no play, and tells the length of GET's answer
		stream.play = objectid.New()
		return stream, nil
	}
	request := plays.Request{Video: video, Play: play}
	if !admin {
		request.Most = nullable.Ptr(v.MaxStreams)
	}
	stream.play, err = s.Plays.Open(ctx, request)
	return stream, err
}

// permitRating asks for the PIN of a customer for what is rated above their age limit.
func permitRating(ctx context.Context, accounts Accounts, v catalogdb.ViewerReadStreamRow, pin secret.Text) error {
	if v.MaxAgeRating == "" || v.AgeRating == nil || !resource.IsAbove(*v.AgeRating, v.MaxAgeRating) {
		return nil
	}
	if pin.Reveal() == "" {
		return fault.PINRequired("This video is rated above the age limit of your account: its PIN is needed.")
	}
	return accounts.ProveParentalPin(ctx, httpapi.ClaimsOf(ctx).UserID, pin)
}

// isVisible reports whether customers may watch a video then. One that is not there has
// neither an enable nor an end.
func isVisible(enable *bool, expiration *time.Time, now time.Time) bool {
	return enable != nil && *enable && (expiration == nil || expiration.After(now))
}

// signStream signs an address until it ends (docs/streaming.md): that of a file by expires, in unix seconds, and
// signature at the end of its query, that of an HLS playlist by a prefix of its path, which what the playlist names
// beside it inherits. The signature is the hex HMAC-SHA256 of what is before "&signature=", without the scheme, or of
// host, prefix without the signature, and directory.
func signStream(key []byte, address string, ends time.Time) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("address of a video: %w", err)
	}
	u.Host, u.Fragment, u.RawFragment = strings.ToLower(u.Host), "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	expires := strconv.FormatInt(ends.Unix(), 10)
	if directory := hlsDirectory(u); directory != "" {
		prefix := "/_s/" + expires
		path := prefix + "/" + signature(key, u.Host+prefix+directory)
		u.Path, u.RawPath, u.RawQuery, u.ForceQuery = path+u.Path, path+u.EscapedPath(), "", false
		return u.String(), nil
	}
	u.RawQuery = strings.Join(append(hostPairs(u.RawQuery), "expires="+expires), "&")
	u.RawQuery += "&signature=" + signature(key, u.Host+u.RequestURI())
	return u.String(), nil
}

func signature(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// signable is a directory that every server reads as it is signed: below the root, without empty names, names that
// begin with a dot, and escapes that stand for a separator, a dot or another escape.
var (
	signable = regexp.MustCompile(`^(?:/[^/]+){1,8}/$`)
	misread  = regexp.MustCompile(`(?i)/\.|\\|%(2[5ef]|5c|00)`)
)

// hlsDirectory is the directory of an HLS playlist, as clients ask for it, and "" for what is signed as a file: any
// other name than *.m3u8; a playlist with a query of its own, which its segments do not inherit; one that lies at the
// root, whose directory would be the whole host; and one whose path servers may read in two ways.
func hlsDirectory(u *url.URL) string {
	path := u.EscapedPath()
	directory := path[:strings.LastIndexByte(path, '/')+1]
	if !strings.HasSuffix(strings.ToLower(path), ".m3u8") || len(hostPairs(u.RawQuery)) > 0 ||
		!signable.MatchString(directory) || misread.MatchString(path) {
		return ""
	}
	return directory
}

// hostPairs are the pairs of a query that the host wants kept: written as clients
// send them, and without those that the signature puts there.
func hostPairs(query string) []string {
	var params []string
	for _, pair := range strings.Split(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if pair != "" && name != "expires" && name != "signature" {
			params = append(params, sendable(pair))
		}
	}
	return params
}

// sendable escapes what clients escape in a query before they send it: a
// signature of the other form would not be that of the request.
func sendable(query string) string {
	var out strings.Builder
	for i := range len(query) {
		c := query[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"'<>`, c) >= 0 {
			fmt.Fprintf(&out, "%%%02X", c)
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

type streamInput struct {
	VideoID string      `path:"video_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits" doc:"The video's _id"`
	PlayID  string      `query:"play_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits" doc:"The play that goes on, from an earlier answer; omitted: one begins"`
	PIN     secret.Text `header:"X-Parental-Pin" maxLength:"20" doc:"The PIN of the account, for a video above its max_age_rating: else 403 PIN_REQUIRED"`
}

type streamOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         struct {
		VideoID   objectid.ID  `json:"video_id"`
		URL       string       `json:"url" doc:"The video's address, signed: that of an HLS playlist by a prefix of its path, any other by expires and signature"`
		ExpiresAt httpapi.Time `json:"expires_at"`
		PlayID    *objectid.ID `json:"play_id" nullable:"true" doc:"The play that began or goes on: PUT /me/watch-history with it every 30 seconds keeps it, 90 seconds of silence end it. null to staff who see as a customer"`
	}
}

// getStreamURL answers GET /videos/{video_id}/stream-url.
func (h handlers) getStreamURL(ctx context.Context, in *streamInput) (*streamOutput, error) {
	id := objectid.ID(strings.ToLower(in.VideoID))
	stream, err := h.s.streamURL(ctx, id, objectid.ID(strings.ToLower(in.PlayID)), in.PIN)
	if err != nil {
		return nil, err
	}
	// The address is a right of this user alone, so no cache between may keep it.
	out := &streamOutput{CacheControl: "private, no-store"}
	out.Body.VideoID, out.Body.URL, out.Body.ExpiresAt = id, stream.signed, httpapi.Time(stream.ends)
	out.Body.PlayID = nullable.Ptr(stream.play)
	return out, nil
}
