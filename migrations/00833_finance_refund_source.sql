-- +goose Up
COMMENT ON COLUMN finance.refunds.source IS 'admin: asked for here by an admin; platform: asked for here by itself, or because a customer withdrew; gateway: learned from the gateway.';

-- +goose Down
COMMENT ON COLUMN finance.refunds.source IS 'admin: asked for here; gateway: learned from the gateway.';
