-- +goose Up
-- What the seeded profile holds is for staff. One that root has made their own is theirs: they add the name where it
-- belongs.
UPDATE accounts.users_type SET "update" = "update" || '{config_branding_put}', updated_at = date_trunc('milliseconds', now())
WHERE id = '000000000000000000000001'
    AND view = '{requisition_get,requisition_status_get,requisition_file_download}'
    AND "create" = '{requisition_post,requisition_status_post,requisition_file_upload}'
    AND "update" = '{requisition_put,requisition_status_put}'
    AND "delete" = '{requisition_delete,requisition_status_delete,requisition_file_delete}';

-- +goose Down
UPDATE accounts.users_type SET "update" = array_remove("update", 'config_branding_put'), updated_at = date_trunc('milliseconds', now())
WHERE id = '000000000000000000000001' AND 'config_branding_put' = ANY ("update");
