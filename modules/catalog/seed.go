package catalog

import (
	"context"
	_ "embed" // the sample catalogue
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"

	"github.com/jackc/pgx/v5"

	"marquee/modules/catalog/internal/catalogdb"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// sample is a catalogue of real films that are in the public domain or openly
// licensed. Its objects are bodies of POST, but that a video names its groups by
// slug.
//
//go:embed seed/catalogue.json
var sample []byte

type sampleCatalogue struct {
	Categories []map[string]any `json:"categories"`
	Tags       []map[string]any `json:"tags"`
	Seasons    []map[string]any `json:"seasons"`
	Videos     []map[string]any `json:"videos"`
}

// Seed puts the sample catalogue into the database. What is there already, by
// its slug, stays as it is, so Seed may run at every start and in several
// processes at once.
func (s *Service) Seed(ctx context.Context) error {
	all, err := readSample()
	if err != nil {
		return err
	}
	return postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		if _, err := catalogdb.New().VersionLock(ctx, tx); err != nil {
			return fmt.Errorf("lock the catalogue: %w", err)
		}
		seed := seeder{tx: tx, by: resource.Actor{Now: s.deps.Clock.Now()}, ids: map[slugKey]objectid.ID{}}
		if err := seed.readExisting(ctx, all); err != nil {
			return err
		}
		for _, part := range []struct {
			resource *resource.Resource
			name     string
			objects  []map[string]any
		}{
			{Categories, "categories", all.Categories},
			{Tags, "tags", all.Tags},
			{Seasons, "seasons", all.Seasons},
			{Videos, "videos", all.Videos},
		} {
			if err := seed.add(ctx, part.resource, part.name, part.objects); err != nil {
				return fmt.Errorf("seed %s: %w", part.name, err)
			}
		}
		return nil
	})
}

// PointSample has the videos of the sample catalogue play where address says, by their slug, on this machine. One whose
// address somebody has changed keeps it: it is neither that of the sample nor one of an earlier start, which differs by
// port and file.
func PointSample(ctx context.Context, pool postgres.Pool, address func(slug string) *url.URL) error {
	all, err := readSample()
	if err != nil {
		return err
	}
	var arg catalogdb.SampleMoveVideosParams
	for _, video := range all.Videos {
		to := address(slugOf(video))
		former, _ := video["video_id"].(string)
		anyPort := url.URL{Scheme: to.Scheme, Host: to.Hostname()}
		arg.Slugs, arg.Addresses = append(arg.Slugs, slugOf(video)), append(arg.Addresses, to.String())
		arg.Former = append(arg.Former, former)
		arg.Earlier = append(arg.Earlier, "^"+regexp.QuoteMeta(anyPort.String())+":[0-9]+"+
			regexp.QuoteMeta(path.Dir(to.Path))+"/")
	}
	if err := catalogdb.New().SampleMoveVideos(ctx, pool, arg); err != nil {
		return fmt.Errorf("point the sample catalogue: %w", err)
	}
	return nil
}

func readSample() (all sampleCatalogue, err error) {
	if err := json.Unmarshal(sample, &all); err != nil {
		return all, fmt.Errorf("read the sample catalogue: %w", err)
	}
	return all, nil
}

type slugKey struct{ collection, slug string }

type seeder struct {
	tx  pgx.Tx
	by  resource.Actor
	ids map[slugKey]objectid.ID // of what is in the database
}

// readExisting reads which of the sample's records are there.
func (d *seeder) readExisting(ctx context.Context, all sampleCatalogue) error {
	var slugs []string
	for _, part := range [][]map[string]any{all.Categories, all.Tags, all.Seasons, all.Videos} {
		for _, object := range part {
			slugs = append(slugs, slugOf(object))
		}
	}
	rows, err := catalogdb.New().SlugList(ctx, d.tx, slugs)
	if err != nil {
		return fmt.Errorf("read slugs: %w", err)
	}
	for _, row := range rows {
		d.ids[slugKey{row.Collection, row.Slug}] = row.ID
	}
	return nil
}

// add creates the objects that are missing.
func (d *seeder) add(ctx context.Context, r *resource.Resource, name string, objects []map[string]any) error {
	var missing []map[string]any
	for _, object := range objects {
		if _, there := d.ids[slugKey{name, slugOf(object)}]; !there {
			missing = append(missing, d.resolve(object))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	body, err := json.Marshal(missing)
	if err != nil {
		return err
	}
	ids, err := r.CreateTx(ctx, d.tx, d.by, body)
	if err != nil {
		return err
	}
	for i, id := range ids {
		d.ids[slugKey{name, slugOf(missing[i])}] = id
	}
	return nil
}

// resolve turns a video's slugs of categories, groups of tags and season into
// ids.
func (d *seeder) resolve(object map[string]any) map[string]any {
	body := make(map[string]any, len(object))
	for key, value := range object {
		switch key {
		case "categories":
			body["category_id"] = d.idsOf("categories", value)
		case "groups":
			body["tags_id"] = d.idsOf("tags", value)
		case "season":
			slug, _ := value.(string)
			body["season_id"] = d.ids[slugKey{"seasons", slug}]
		default:
			body[key] = value
		}
	}
	return body
}

func (d *seeder) idsOf(name string, slugs any) []objectid.ID {
	list, _ := slugs.([]any)
	ids := make([]objectid.ID, len(list))
	for i, slug := range list {
		text, _ := slug.(string)
		ids[i] = d.ids[slugKey{name, text}]
	}
	return ids
}

func slugOf(object map[string]any) string {
	slug, _ := object["slug"].(string)
	return slug
}
