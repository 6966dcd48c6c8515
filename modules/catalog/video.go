package catalog

import (
	"net/url"
	"slices"

	"marquee/platform/fault"
	"marquee/platform/query"
	"marquee/platform/resource"
)

const slugPattern = `^[a-z0-9]+(-[a-z0-9]+)*$`

var slugRule = resource.Rule{
	Required: true, MinLength: 1, MaxLength: 200, Pattern: slugPattern,
	Means: "lower-case letters and digits with single hyphens between them",
}

// Videos is the collection of videos (docs/contract/catalogue.md, Videos).
var Videos = resource.New(resource.Definition{
	Name: "videos", Singular: "Video", Table: "catalog.videos", DefaultSort: `{"register_update_date":-1}`,
	Version: "(SELECT number FROM catalog.version())",
	Search:  "t.search",
	Fields: slices.Concat([]resource.Field{
		{Name: "title", Kind: query.String, Rule: resource.Rule{Required: true, MinLength: 1, MaxLength: 200}},
		{Name: "slug", Kind: query.String, Rule: slugRule, Doc: "Unique"},
		{
			Name: "video_id", Kind: query.String,
			Rule: resource.Rule{Required: true, MaxLength: 2000, Format: "uri", Check: webAddress},
			Doc:  "Address of the video at its host",
		},
		{Name: "description", Kind: query.String, Rule: resource.Rule{Default: "", MaxLength: 10000}},
		{Name: "author", Kind: query.String, Rule: resource.Rule{Default: "", MaxLength: 200}},
		{
			Name: "duration", Kind: query.Int, Rule: resource.Rule{Required: true, Min: new(int64(0))},
			Doc: "Minutes",
		},
		{Name: "release_date", Kind: query.Date, Rule: resource.Rule{Required: true}},
		{Name: "expiration_date", Kind: query.Date, Nullable: true},
		{Name: "category_id", Kind: query.OID, Array: true, Rule: resource.Rule{MaxItems: 100}},
		{
			Name: "category_name", Kind: query.String, Array: true, Write: resource.ReadOnly,
			Doc: "Names of category_id, in its order",
		},
		{Name: "tags_id", Kind: query.OID, Array: true, Rule: resource.Rule{MaxItems: 100}},
		{
			Name: "tags_name", Kind: query.String, Array: true, Write: resource.ReadOnly,
			Doc: "Names of tags_id, in its order",
		},
		{
			Name: "tags", Kind: query.String, Array: true, Rule: resource.Rule{MaxItems: 100, MaxLength: 200},
			Doc: "Free words",
		},
		{Name: "season_id", Kind: query.OID, Nullable: true},
		{Name: "season_name", Kind: query.String, Nullable: true, Write: resource.ReadOnly, Doc: "Name of season_id"},
		{Name: "season_number", Kind: query.Int, Nullable: true},
		{Name: "episode_number", Kind: query.Int, Nullable: true, Rule: resource.Rule{Min: new(int64(1))}},
		{Name: "thumbnail_horizontal", Kind: query.OID, Nullable: true, Doc: "File id, 16:9"},
		{Name: "thumbnail_horizontal_name_less", Kind: query.OID, Nullable: true, Doc: "File id, 16:9"},
		{Name: "thumbnail_vertical", Kind: query.OID, Nullable: true, Doc: "File id, 9:16"},
		{Name: "thumbnail_vertical_name_less", Kind: query.OID, Nullable: true, Doc: "File id, 9:16"},
		{Name: "enable", Kind: query.Bool, Rule: resource.Rule{Default: true}, Doc: "Published"},
		{Name: "main_highlight", Kind: query.Bool, Rule: resource.Rule{Default: false}},
		{Name: "section_highlight", Kind: query.Bool, Rule: resource.Rule{Default: false}},
		{Name: "is_show_in_slide_carousel", Kind: query.Bool, Rule: resource.Rule{Default: false}},
		{
			Name: "video_gridfs_id", Kind: query.OID, Nullable: true,
			Doc: "Storage id in the system it was imported from",
		},
		{Name: "legacy_id", Kind: query.String, Nullable: true, Rule: resource.Rule{MaxLength: 200}},
	}, resource.RatingFields()),
	Constraints: map[string]resource.Violation{
		"videos_slug_unique": {Field: "slug", Message: "is already taken"},
		"videos_category_id_known": {
			Kind: fault.KindInvalid, Field: "category_id", Message: "names an unknown category",
		},
		"videos_tags_id_known":   {Kind: fault.KindInvalid, Field: "tags_id", Message: "names an unknown tag"},
		"videos_season_id_known": {Kind: fault.KindInvalid, Field: "season_id", Message: "names an unknown season"},
	},
})

// webAddress says what is wrong with the address of a video.
func webAddress(value any) string {
	text, _ := value.(string)
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return "has to be an http or https address"
	}
	return ""
}
