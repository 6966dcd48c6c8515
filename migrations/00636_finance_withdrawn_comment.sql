-- +goose Up
COMMENT ON COLUMN finance.disputes.state IS 'inquiry (asked, no money taken), open (money taken), won (given back), lost, dismissed (an inquiry that came to nothing), withdrawn (entered by an admin by mistake: it counts nowhere).';

-- +goose Down
COMMENT ON COLUMN finance.disputes.state IS 'inquiry (asked, no money taken), open (money taken), won (given back), lost, dismissed (an inquiry that came to nothing).';
