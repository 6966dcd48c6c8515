package resource

import "marquee/platform/query"

// AgeRatings are the values of age_rating, the youngest first: L is for everybody, the others are the years from which
// something is meant (classificação indicativa).
var AgeRatings = []string{"L", "10", "12", "14", "16", "18"}

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
