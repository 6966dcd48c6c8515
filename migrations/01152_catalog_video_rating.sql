-- +goose Up
ALTER TABLE catalog.videos
    ADD COLUMN age_rating text COLLATE "C" CONSTRAINT videos_age_rating_known CHECK (age_rating IN ('L', '10', '12', '14', '16', '18')),
    ADD COLUMN rating_reasons text[] COLLATE "C" NOT NULL DEFAULT '{}' CONSTRAINT videos_rating_reasons_few CHECK (cardinality(rating_reasons) <= 20);
COMMENT ON COLUMN catalog.videos.age_rating IS 'Classificação indicativa: L (for everybody), or the years from which it is meant; null is not rated.';
COMMENT ON COLUMN catalog.videos.rating_reasons IS 'What the rating is for, such as violence; words as the classification has them.';

-- +goose Down
ALTER TABLE catalog.videos DROP COLUMN rating_reasons, DROP COLUMN age_rating;
