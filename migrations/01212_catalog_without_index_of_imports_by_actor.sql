-- +goose Up

-- Imports are forgotten after days, and somebody's are listed by a condition that an index cannot answer.
DROP INDEX catalog.imports_by_actor;

-- +goose Down

CREATE INDEX imports_by_actor ON catalog.imports (actor_id, created_at DESC);
