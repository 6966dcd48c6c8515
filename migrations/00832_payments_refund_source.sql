-- +goose Up
ALTER TABLE payments.refunds DROP CONSTRAINT refunds_source_known;
ALTER TABLE payments.refunds ADD CONSTRAINT refunds_source_known CHECK (source IN ('admin', 'platform', 'gateway'));
UPDATE payments.refunds SET source = 'platform' WHERE source = 'admin' AND admin IS NULL AND admin_id IS NULL;
COMMENT ON COLUMN payments.refunds.source IS 'admin: asked for here by an admin; platform: asked for here by itself, or because a customer withdrew; gateway: learned from the gateway.';

-- +goose Down
UPDATE payments.refunds SET source = 'admin' WHERE source = 'platform';
ALTER TABLE payments.refunds DROP CONSTRAINT refunds_source_known;
ALTER TABLE payments.refunds ADD CONSTRAINT refunds_source_known CHECK (source IN ('admin', 'gateway'));
COMMENT ON COLUMN payments.refunds.source IS 'admin: asked for here, by an admin or by the platform itself; gateway: learned from the gateway.';
