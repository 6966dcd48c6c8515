package plays

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/fault"
	"marquee/platform/httpapi"
	"marquee/platform/objectid"
)

const path = "/me/plays"

// handlers answers the routes.
type handlers struct{ p *Plays }

// Routes registers what users do with their plays.
func (p *Plays) Routes(api *httpapi.API) {
	h := handlers{p}
	httpapi.Route(api, http.MethodGet, path, "play_list", httpapi.SignedIn, h.list)
	httpapi.Route(api, http.MethodDelete, path+"/{play_id}", "play_end", httpapi.SignedIn, h.delete)
}

// play is where a user plays, as they see it.
type play struct {
	PlayID    objectid.ID  `json:"play_id"`
	VideoID   objectid.ID  `json:"video_id" doc:"The video's _id"`
	Title     string       `json:"title" doc:"The video's title; empty when it is gone"`
	Device    string       `json:"device" doc:"What the player called itself (User-Agent)"`
	IsCurrent bool         `json:"is_current" doc:"True of the sign-in that asks"`
	StartedAt httpapi.Time `json:"started_at"`
	SeenAt    httpapi.Time `json:"seen_at" doc:"When the player was last heard of"`
}

func playOf(row catalogdb.PlayListRow, session objectid.ID) play {
	return play{
		PlayID: row.ID, VideoID: row.VideoID, Title: row.Title, Device: row.Device,
		IsCurrent: row.SessionID != nil && *row.SessionID == session,
		StartedAt: httpapi.Time(row.StartedAt), SeenAt: httpapi.Time(row.SeenAt),
	}
}

type playList struct {
	Plays []play `json:"plays"`
}

// list answers GET /me/plays.
func (h handlers) list(ctx context.Context, _ *struct{}) (*httpapi.Output[playList], error) {
	if err := httpapi.HeadEnds(ctx); err != nil {
		return nil, err
	}
	claims := httpapi.ClaimsOf(ctx)
	live, err := h.p.live(ctx, claims.UserID, h.p.deps.Clock.Now())
	if err != nil {
		return nil, err
	}
	list := playList{Plays: make([]play, len(live))}
	for i, row := range live {
		list.Plays[i] = playOf(row, claims.SessionID)
	}
	return httpapi.OK(list)
}

type playInput struct {
	PlayID string `path:"play_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"an id of 24 hexadecimal digits" doc:"The play_id of the stream URL"`
}

type playEnded struct {
	Message string `json:"message"`
}

// delete answers DELETE /me/plays/{play_id}.
func (h handlers) delete(ctx context.Context, in *playInput) (*httpapi.Output[playEnded], error) {
	if err := h.p.end(ctx, httpapi.CallerOf(ctx).ID, objectid.ID(strings.ToLower(in.PlayID))); err != nil {
		return nil, err
	}
	return httpapi.OK(playEnded{Message: "The play has ended."})
}

// mostNamed bounds the devices that a refusal names, and longestNamed what is said of each.
const mostNamed, longestNamed = 5, 80

// errTooMany names the devices that play, the longest played first, and how one is ended.
func errTooMany(most int32, live []catalogdb.PlayListRow) error {
	var named []string
	for _, row := range live[:min(mostNamed, len(live))] {
		device := []rune(row.Device)
		if len(device) == 0 {
			device = []rune("an unnamed device")
		}
		named = append(named, string(device[:min(longestNamed, len(device))]))
	}
	return &fault.Error{
		Kind: fault.KindConflict, Code: fault.CodeTooManyStreams,
		Message: fmt.Sprintf("Your plan plays on %s at once. Playing now: %s. End one with DELETE /me/plays/{play_id}; GET /me/plays lists them.",
			fault.Count(int(most), "device"), strings.Join(named, ", ")),
	}
}
