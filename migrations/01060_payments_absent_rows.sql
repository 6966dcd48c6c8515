-- +goose Up
ALTER FUNCTION payments.absent(text, text, text, platform.object_id) ROWS 1;

-- +goose Down
ALTER FUNCTION payments.absent(text, text, text, platform.object_id) ROWS 1000;
