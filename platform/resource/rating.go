package resource

import (
	"slices"

	"marquee/platform/query"
)

// AgeRatings are the values of age_rating, the youngest first: L is for everybody, the others are the years from which
// something is meant (classificação indicativa).
var AgeRatings = []string{"L", "10", "12", "14", "16", "18"}

// IsAbove reports whether a rating is meant for older people than the limit; what is not rated, or not known, is not.
func IsAbove(rating, limit string) bool {
	return slices.Index(AgeRatings, rating) > slices.Index(AgeRatings, limit)
}

// RatingFields are age_rating and rating_reasons, as whatever people watch has them. As texts, L sorts behind 18.
func RatingFields() []Field {
	const mostReasons, longest = 20, 100
	return []Field{
		{
			Name: "age_rating", Kind: query.String, Nullable: true, Rule: Rule{Enum: AgeRatings},
			Doc: "Classificação indicativa: L is for everybody; null is not rated",
		},
		{
			Name: "rating_reasons", Kind: query.String, Array: true, Doc: "What the rating is for",
			Rule: Rule{MinLength: 1, MaxLength: longest, MaxItems: mostReasons},
		},
	}
}
