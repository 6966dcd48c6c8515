-- +goose Up
CREATE TABLE settings.branding (
    only_row     boolean PRIMARY KEY DEFAULT true,
    name         text COLLATE "C" NOT NULL DEFAULT 'Marquee',
    accent_light text COLLATE "C" NOT NULL DEFAULT '#2b59c3',
    accent_dark  text COLLATE "C" NOT NULL DEFAULT '#8aaefc',
    logo_sum     text COLLATE "C",
    updated_at   timestamptz NOT NULL DEFAULT '2000-01-01 00:00:00+00',
    CONSTRAINT branding_one_row CHECK (only_row),
    CONSTRAINT branding_name_length CHECK (char_length(name) BETWEEN 1 AND 40),
    CONSTRAINT branding_accents_are_colours CHECK (accent_light ~ '^#[0-9a-f]{6}$' AND accent_dark ~ '^#[0-9a-f]{6}$'),
    CONSTRAINT branding_logo_sum_is_sha256 CHECK (logo_sum ~ '^[0-9a-f]{64}$')
);
COMMENT ON TABLE settings.branding IS 'One row: what the platform is called and looks like, in the front ends, mails and tickets.';
COMMENT ON COLUMN settings.branding.accent_light IS 'Has 4.5:1 on the grounds of the light theme; a colour that is read on light grounds is not read on dark ones, so that there are two.';
COMMENT ON COLUMN settings.branding.logo_sum IS 'SHA-256 of the logo, by which its address differs from that of the one before. Null: the mark of Marquee.';
INSERT INTO settings.branding DEFAULT VALUES;

CREATE TABLE settings.branding_logo (
    only_row boolean PRIMARY KEY DEFAULT true,
    png      bytea NOT NULL,
    mail_png bytea NOT NULL,
    CONSTRAINT branding_logo_one_row CHECK (only_row),
    CONSTRAINT branding_logo_bounded CHECK (octet_length(png) <= 524288 AND octet_length(mail_png) <= 524288),
    CONSTRAINT branding_logo_of_branding FOREIGN KEY (only_row) REFERENCES settings.branding (only_row)
);
COMMENT ON TABLE settings.branding_logo IS 'The logo, apart from what is read often: no row without one.';
COMMENT ON COLUMN settings.branding_logo.mail_png IS 'The same, as small as mails show it.';

-- +goose Down
DROP TABLE settings.branding_logo;
DROP TABLE settings.branding;
