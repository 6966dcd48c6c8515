-- +goose Up
ALTER TABLE tickets.orders
    ADD COLUMN sold_by_id platform.object_id,
    ADD COLUMN sold_by text COLLATE "C",
    ADD COLUMN note text COLLATE "C",
    ADD COLUMN buyer_phone text COLLATE "C";
COMMENT ON COLUMN tickets.orders.sold_by_id IS 'Of an order of the box office, the admin who sold it; null of one of the store.';
COMMENT ON COLUMN tickets.orders.sold_by IS 'Their username of that time.';
COMMENT ON COLUMN tickets.orders.note IS 'What the box office wrote at the sale; why a courtesy was given.';
COMMENT ON COLUMN tickets.orders.buyer_phone IS 'Of an order of the box office, where the buyer gave one. Name and e-mail stand in tickets.customers, under an id that no account has.';
ALTER TABLE tickets.orders DROP CONSTRAINT orders_free_has_no_gateway, DROP CONSTRAINT orders_payment_method_known;
ALTER TABLE tickets.orders
    ADD CONSTRAINT orders_payment_method_known CHECK (payment_method IN ('credit_card', 'pix', 'cash', 'card_machine', 'courtesy')) NOT VALID,
    ADD CONSTRAINT orders_free_has_no_gateway CHECK (sold_by_id IS NOT NULL
        OR (gateway IS NULL) = (total_cents = 0) AND (payment_method IS NULL) = (gateway IS NULL)
            AND (payment_method IS NULL OR payment_method IN ('credit_card', 'pix'))) NOT VALID,
    ADD CONSTRAINT orders_box_office_has_no_gateway CHECK (sold_by_id IS NULL
        OR gateway IS NULL AND gateway_payment_id IS NULL AND NOT intent_open AND state IN ('paid', 'refunded')
            AND payment_method IS NOT NULL AND payment_method IN ('cash', 'card_machine', 'courtesy')) NOT VALID,
    ADD CONSTRAINT orders_courtesy_is_free CHECK (sold_by_id IS NULL OR (payment_method = 'courtesy') = (total_cents = 0)) NOT VALID,
    ADD CONSTRAINT orders_courtesy_has_reason CHECK (payment_method <> 'courtesy' OR char_length(note) >= 5) NOT VALID,
    ADD CONSTRAINT orders_box_office_has_seller CHECK ((sold_by_id IS NULL) = (sold_by IS NULL)) NOT VALID,
    ADD CONSTRAINT orders_note_length CHECK (char_length(note) <= 500) NOT VALID;
-- What was sold when this was taken back is sold by nobody who is known.
UPDATE tickets.orders SET sold_by_id = repeat('0', 24), sold_by = '', note = CASE payment_method WHEN 'courtesy' THEN 'not known any more' END
WHERE payment_method IN ('cash', 'card_machine', 'courtesy') AND sold_by_id IS NULL;
ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_payment_method_known;
ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_free_has_no_gateway;
ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_box_office_has_no_gateway;
ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_courtesy_is_free;
ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_courtesy_has_reason;
ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_box_office_has_seller;
ALTER TABLE tickets.orders VALIDATE CONSTRAINT orders_note_length;
CREATE INDEX orders_of_box_office ON tickets.orders (event_id, created_at DESC, id DESC) WHERE sold_by_id IS NOT NULL;

-- +goose Down
DROP INDEX tickets.orders_of_box_office;
ALTER TABLE tickets.orders DROP CONSTRAINT orders_note_length, DROP CONSTRAINT orders_box_office_has_seller, DROP CONSTRAINT orders_courtesy_has_reason,
    DROP CONSTRAINT orders_courtesy_is_free, DROP CONSTRAINT orders_box_office_has_no_gateway, DROP CONSTRAINT orders_free_has_no_gateway,
    DROP CONSTRAINT orders_payment_method_known;
-- What the box office sold stays as it is: the constraints bind what is written from now on.
ALTER TABLE tickets.orders
    ADD CONSTRAINT orders_free_has_no_gateway CHECK ((gateway IS NULL) = (total_cents = 0) AND (payment_method IS NULL) = (gateway IS NULL)) NOT VALID,
    ADD CONSTRAINT orders_payment_method_known CHECK (payment_method IN ('credit_card', 'pix')) NOT VALID;
ALTER TABLE tickets.orders DROP COLUMN buyer_phone, DROP COLUMN note, DROP COLUMN sold_by, DROP COLUMN sold_by_id;
