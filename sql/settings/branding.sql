-- name: BrandingGet :one
SELECT * FROM settings.branding;

-- BrandingLock keeps other changes waiting until the transaction ends.
-- name: BrandingLock :one
SELECT * FROM settings.branding FOR UPDATE;

-- name: BrandingLogoDelete :exec
DELETE FROM settings.branding_logo;

-- BrandingLogoGet is the logo and its sum, of one moment.
-- name: BrandingLogoGet :one
SELECT b.logo_sum, l.png FROM settings.branding b JOIN settings.branding_logo l USING (only_row);

-- name: BrandingLogoPut :exec
INSERT INTO settings.branding_logo (png, mail_png) VALUES (@png, @mail_png)
ON CONFLICT (only_row) DO UPDATE SET png = excluded.png, mail_png = excluded.mail_png;

-- BrandingMailGet is what mails show.
-- name: BrandingMailGet :one
SELECT b.name, b.accent_light, l.mail_png
FROM settings.branding b LEFT JOIN settings.branding_logo l USING (only_row);

-- name: BrandingUpdate :exec
UPDATE settings.branding SET
    name = @name,
    accent_light = @accent_light,
    accent_dark = @accent_dark,
    logo_sum = sqlc.narg('logo_sum'),
    updated_at = @updated_at;
