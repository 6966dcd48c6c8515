-- name: DeletedOrderGet :one
SELECT * FROM tickets.deleted_orders WHERE id = @id;

-- name: DeletedOrderGetByPayment :one
SELECT * FROM tickets.deleted_orders WHERE gateway = @gateway AND gateway_payment_id = @gateway_payment_id;
