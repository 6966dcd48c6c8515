-- +goose Up
ALTER TABLE tickets.events
    ADD COLUMN age_rating text COLLATE "C" CONSTRAINT events_age_rating_known CHECK (age_rating IN ('L', '10', '12', '14', '16', '18')),
    ADD COLUMN rating_reasons text[] COLLATE "C" NOT NULL DEFAULT '{}' CONSTRAINT events_rating_reasons_few CHECK (cardinality(rating_reasons) <= 20);
COMMENT ON COLUMN tickets.events.age_rating IS 'Classificação indicativa: L (for everybody), or the years from which it is meant; null is not rated.';
COMMENT ON COLUMN tickets.events.rating_reasons IS 'What the rating is for, such as violence; words as the classification has them.';

-- +goose Down
ALTER TABLE tickets.events DROP COLUMN rating_reasons, DROP COLUMN age_rating;
