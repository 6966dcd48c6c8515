-- name: SampleMoveVideos :exec
-- SampleMoveVideos has videos play elsewhere: those of the slugs whose address is the one that they had, or of the form
-- of an earlier one.
UPDATE catalog.videos v SET video_id = s.address
FROM (
    SELECT unnest(@slugs::text[]) AS slug, unnest(@former::text[]) AS former, unnest(@earlier::text[]) AS earlier,
           unnest(@addresses::text[]) AS address
) s
WHERE v.slug = s.slug AND v.video_id <> s.address AND (v.video_id = s.former OR v.video_id ~ s.earlier);
