package catalog

import (
	"marquee/platform/collection"
	"marquee/platform/query"
)

var nameRule = collection.Rule{Required: true, MinLength: 1, MaxLength: 100}

// Categories, Tags and Seasons group videos (docs/contract/catalogue.md, What groups videos).
var (
	Categories = group("categories", "Category", "categories_in_use")
	Tags       = group("tags", "Tag", "tags_in_use")
	Seasons    = group("seasons", "Season", "videos_season_id_known",
		collection.Field{Name: "number", Kind: query.Int, Nullable: true, Doc: "Place among the seasons of a series"},
		collection.Field{Name: "description", Kind: query.String, Nullable: true, Rule: collection.Rule{MaxLength: 10000}},
	)
)

func group(name, singular, inUse string, more ...collection.Field) *collection.Resource {
	return collection.New(collection.Definition{
		Name: name, Singular: singular, Table: "catalog." + name,
		Fields: append([]collection.Field{
			{Name: "name", Kind: query.String, Rule: nameRule},
			{Name: "slug", Kind: query.String, Rule: slugRule, Doc: "Unique"},
		}, more...),
		Constraints: map[string]collection.Violation{
			name + "_slug_unique": {Field: "slug", Message: "is already taken"},
			inUse:                 {Message: singular + " is still in use by a video."},
		},
	})
}
