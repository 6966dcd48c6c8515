-- +goose Up
CREATE SCHEMA tickets;
COMMENT ON SCHEMA tickets IS 'Events, their tickets, the orders of the ticket store, check-in.';

-- +goose StatementBegin
CREATE FUNCTION tickets.ends_at(event_date timestamptz, event_end_date timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(event_end_date, event_date + interval '3 hours')
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.ends_at(timestamptz, timestamptz) IS 'The end rule: the end, else three hours after the start. An event is over from that instant on, for listing, purchase, ticket expiry and promo codes alike.';

CREATE TABLE tickets.events (
    id                     platform.object_id PRIMARY KEY DEFAULT platform.new_object_id(),
    code                   text COLLATE "C",
    title                  text COLLATE "C" NOT NULL,
    description            text COLLATE "C" NOT NULL DEFAULT '',
    event_type             text COLLATE "C" NOT NULL DEFAULT 'other',
    event_date             timestamptz NOT NULL,
    event_end_date         timestamptz,
    ends_at                timestamptz NOT NULL GENERATED ALWAYS AS (tickets.ends_at(event_date, event_end_date)) STORED,
    location               text COLLATE "C" NOT NULL DEFAULT '',
    capacity               integer,
    tickets_issued         integer NOT NULL DEFAULT 0,
    ticket_value_cents     bigint,
    is_sale_box_office     boolean NOT NULL DEFAULT false,
    image_id               platform.object_id,
    is_active              boolean NOT NULL DEFAULT true,
    document_created_by_id platform.object_id,
    register_date          timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    register_update_date   timestamptz NOT NULL DEFAULT date_trunc('milliseconds', now()),
    CONSTRAINT events_code_unique UNIQUE (code),
    CONSTRAINT events_code_upper_case CHECK (code = upper(code)),
    CONSTRAINT events_title_length CHECK (char_length(title) BETWEEN 1 AND 200),
    CONSTRAINT events_description_length CHECK (char_length(description) <= 1000),
    CONSTRAINT events_type_known CHECK (event_type IN ('movie_premiere', 'lecture', 'screening', 'other')),
    CONSTRAINT events_end_after_start CHECK (event_end_date >= event_date),
    CONSTRAINT events_capacity_not_negative CHECK (capacity >= 0),
    CONSTRAINT events_issued_not_negative CHECK (tickets_issued >= 0),
    CONSTRAINT events_value_not_negative CHECK (ticket_value_cents >= 0)
);
COMMENT ON TABLE tickets.events IS 'What tickets are for.';
COMMENT ON COLUMN tickets.events.ends_at IS 'By the end rule, tickets.ends_at.';
COMMENT ON COLUMN tickets.events.capacity IS 'Null is unlimited. It may be lowered below what is issued; then nothing more is issued.';
COMMENT ON COLUMN tickets.events.tickets_issued IS 'Tickets that hold a place, kept by the trigger tickets_account of tickets.tickets.';
COMMENT ON COLUMN tickets.events.ticket_value_cents IS 'Price of one ticket; null or 0 is free.';
COMMENT ON COLUMN tickets.events.is_sale_box_office IS 'Buyable in the store.';
COMMENT ON COLUMN tickets.events.image_id IS 'A file of purpose event_image. No foreign key: an image may be replaced before its event is edited.';

CREATE INDEX events_on_sale ON tickets.events (ends_at) WHERE is_sale_box_office AND is_active;
CREATE INDEX events_by_end ON tickets.events (ends_at);
CREATE INDEX events_by_date ON tickets.events (event_date DESC, id);

-- +goose StatementBegin
CREATE FUNCTION tickets.refuse_beyond_capacity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.tickets_issued > NEW.capacity THEN
        RAISE check_violation USING MESSAGE = 'no place left', CONSTRAINT = 'events_capacity_respected';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION tickets.refuse_beyond_capacity() IS 'No ticket beyond the capacity. A trigger and no CHECK, because the capacity itself may be lowered below what is issued.';

CREATE TRIGGER events_capacity_respected BEFORE UPDATE OF tickets_issued ON tickets.events
    FOR EACH ROW WHEN (NEW.tickets_issued > OLD.tickets_issued) EXECUTE FUNCTION tickets.refuse_beyond_capacity();

-- +goose Down
DROP TABLE tickets.events;
DROP FUNCTION tickets.refuse_beyond_capacity();
DROP FUNCTION tickets.ends_at(timestamptz, timestamptz);
DROP SCHEMA tickets;
