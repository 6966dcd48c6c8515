-- +goose Up
COMMENT ON COLUMN platform.bulk_acts.claims IS 'What the token said with which it was asked for, no token. Whether tokens of its age, or its session, were ended since by anything but signing out, and the rights of whoever asked, are read anew for each record.';

-- +goose Down
COMMENT ON COLUMN platform.bulk_acts.claims IS 'What the token said with which it was asked for, no token: its session and rights are read anew for each record.';
