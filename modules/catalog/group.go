package catalog

import (
	"marquee/platform/query"
	"marquee/platform/resource"
)

var nameRule = resource.Rule{Required: true, MinLength: 1, MaxLength: 100}

// Categories, Tags and Seasons group videos (docs/contract/catalogue.md, What groups videos).
var (
	Categories = group("categories", "Category", "categories_in_use")
	Tags       = group("tags", "Tag", "tags_in_use")
	Seasons    = group("seasons", "Season", "videos_season_id_known",
		resource.Field{Name: "number", Kind: query.Int, Nullable: true, Doc: "Place among the seasons of a series"},
		resource.Field{Name: "description", Kind: query.String, Nullable: true, Rule: resource.Rule{MaxLength: 10000}},
	)
)

func group(name, singular, inUse string, more ...resource.Field) *resource.Resource {
	return resource.New(resource.Definition{
		Name: name, Singular: singular, Table: "catalog." + name,
		Fields: append([]resource.Field{
			{Name: "name", Kind: query.String, Rule: nameRule},
			{Name: "slug", Kind: query.String, Rule: slugRule, Doc: "Unique"},
		}, more...),
		Constraints: map[string]resource.Violation{
			name + "_slug_unique": {Field: "slug", Message: "is already taken"},
			inUse:                 {Message: singular + " is still in use by a video."},
		},
	})
}
