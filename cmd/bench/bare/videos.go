package bare

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// viewer reads who asks, whether they may watch, and the catalogue's version.
const viewer = `SELECT coalesce(c.user_type = 'admin' OR a.has_access, false), v.number
	FROM catalog.version() AS v (number) CROSS JOIN subscriptions.has_access($1, $2) AS a (has_access)
	LEFT JOIN accounts.caller($1, $3, $4, $5) AS c (username, user_type, is_root, profiles, handlers) ON true`

// document is a video as answers show it, made by Postgres.
const document = `(SELECT row_to_json(d)::text FROM (SELECT t.id AS _id, t.title, t.slug, t.video_id, t.description, t.author, t.duration,
	platform.json_time(t.release_date) AS release_date, platform.json_time(t.expiration_date) AS expiration_date,
	t.category_id, t.category_name, t.tags_id, t.tags_name, t.tags, t.season_id, t.season_name, t.season_number, t.episode_number,
	t.thumbnail_horizontal, t.thumbnail_horizontal_name_less, t.thumbnail_vertical, t.thumbnail_vertical_name_less,
	t.enable, t.main_highlight, t.section_highlight, t.is_show_in_slide_carousel, t.video_gridfs_id, t.legacy_id,
	t.age_rating, t.rating_reasons, t.document_created_by_id,
	platform.json_time(t.register_date) AS register_date, platform.json_time(t.register_update_date) AS register_update_date) d)`

// mostPages bounds what is kept: a full memory begins anew.
const mostPages = 10_000

// page is an answer of one version of the catalogue.
type page struct {
	version int64
	body    []byte
}

// videos answers a list from memory where the catalogue is still of the page's version, and a
// single video by the statement that checks the caller.
func (s *server) videos(r *http.Request) ([]byte, error) {
	c, err := s.caller(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	var may bool
	var version int64
	if id := q.Get("_id"); id != "" {
		var doc string
		err := s.pool.QueryRow(r.Context(), `SELECT w.*, `+document+` FROM (`+viewer+`) w (may, version) JOIN catalog.videos t ON t.id = $6`,
			c.UserID, now(), c.issuedAt(), c.ID, c.SessionID, id).Scan(&may, &version, &doc)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, status(http.StatusNotFound)
		}
		if err == nil && !may {
			err = status(http.StatusForbidden)
		}
		body := append(s.link([]byte(`{"docs":[`+doc+`],"links":[`), "self", r.URL), tail(0, 1, 1, 1)...)
		return body, err
	}
	if err := s.pool.QueryRow(r.Context(), viewer, c.UserID, now(), c.issuedAt(), c.ID, c.SessionID).
		Scan(&may, &version); err != nil {
		return nil, err
	}
	if !may {
		return nil, status(http.StatusForbidden)
	}
	if known, ok := s.pages.Load(r.URL.RawQuery); ok && known.(page).version == version {
		return known.(page).body, nil
	}
	p, err := s.fill(r, q)
	if err == nil {
		if s.stored.Add(1)%mostPages == 0 {
			s.pages.Clear()
		}
		s.pages.Store(r.URL.RawQuery, p)
	}
	return p.body, err
}

// fill reads a page and its total.
func (s *server) fill(r *http.Request, q url.Values) (page, error) {
	where, sort, args, err := condition(q)
	if err != nil {
		return page{}, status(http.StatusUnprocessableEntity)
	}
	size, current := 10, 0
	if text := q.Get("qty_docs_page"); text != "" {
		size, _ = strconv.Atoi(text)
	}
	if text := q.Get("current_page"); text != "" {
		current, _ = strconv.Atoi(text)
	}
	rows := ` FROM catalog.videos t WHERE ` + where
	window := ` ORDER BY ` + sort + ` LIMIT ` + strconv.Itoa(size) + ` OFFSET ` + strconv.Itoa(size*current)
	sql := `SELECT (SELECT count(*)` + rows + `), (SELECT coalesce(string_agg(p.doc, ','), '')
		FROM (SELECT ` + document + ` AS doc` + rows + window + `) p), (SELECT number FROM catalog.version())`
	var total int
	var docs string
	var p page
	if len(args) > 0 { // of client's filters there are too many to prepare each
		args = append([]any{pgx.QueryExecModeExec}, args...)
	}
	if err := s.pool.QueryRow(r.Context(), sql, args...).Scan(&total, &docs, &p.version); err != nil {
		return page{}, err
	}
	last := max(total-1, 0) / size
	body := s.link([]byte(`{"docs":[`+docs+`],"links":[`), "self", r.URL)
	body = s.link(append(body, ','), "first", at(r.URL, 0))
	if current > 0 {
		body = s.link(append(body, ','), "prev", at(r.URL, min(current-1, last)))
	}
	if current < last {
		body = s.link(append(body, ','), "next", at(r.URL, current+1))
	}
	body = s.link(append(body, ','), "last", at(r.URL, last))
	p.body = append(body, tail(current, size, (total+size-1)/size, total)...)
	return p, nil
}

// condition reads the filters and sorts of the load, and no others.
func condition(q url.Values) (where, sort string, args []any, err error) {
	var f struct {
		Tags        *string `json:"tags"`
		ReleaseDate *struct {
			From string `json:"$gte"`
		} `json:"release_date"`
		Title *struct {
			Pattern string `json:"$regex"`
		} `json:"title"`
		Duration *struct {
			From int `json:"$gte"`
		} `json:"duration"`
	}
	if text := q.Get("query"); text != "" {
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			return "", "", nil, err
		}
	}
	all := []string{"true"}
	and := func(is bool, before string, value func() any, after string) {
		if is {
			args = append(args, value())
			all = append(all, before+"$"+strconv.Itoa(len(args))+after)
		}
	}
	and(f.Tags != nil, "t.tags @> ARRAY[", func() any { return *f.Tags }, "::text]")
	and(f.ReleaseDate != nil, "t.release_date >= ", func() any { return f.ReleaseDate.From }, "::text::timestamptz")
	and(f.Title != nil, "t.title ~* ", func() any { return f.Title.Pattern }, "::text")
	and(f.Duration != nil, "t.duration >= ", func() any { return f.Duration.From }, "::int")
	sort = "t.register_update_date DESC, t.id"
	if q.Get("sort") != "" {
		sort = "t.release_date DESC, t.id"
	}
	return strings.Join(all, " AND "), sort, args, nil
}

// link appends a link of an answer; the addresses of the load need no escape.
func (s *server) link(buf []byte, rel string, u *url.URL) []byte {
	buf = append(append(append(buf, `{"link_type":"GET","rel":"`...), rel...), `","href":"`...)
	return append(append(append(buf, s.PublicURL...), u.RequestURI()...), `"}`...)
}

// at is the address of another page of the same list.
func at(u *url.URL, n int) *url.URL {
	var pairs []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if pair != "" && !strings.HasPrefix(pair, "current_page=") {
			pairs = append(pairs, pair)
		}
	}
	to := *u
	to.RawQuery = strings.Join(append(pairs, "current_page="+strconv.Itoa(n)), "&")
	return &to
}

func tail(current, size, pages, total int) string {
	return `],"msg":"ok","pagination":{"current_page":` + strconv.Itoa(current) + `,"qty_docs_page":` + strconv.Itoa(size) +
		`,"qty_of_pages":` + strconv.Itoa(pages) + `,"qty_total_docs":` + strconv.Itoa(total) + "},\"info\":null}\n"
}
