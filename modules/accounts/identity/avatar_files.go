package identity

import (
	"context"
	"fmt"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/files"
	"marquee/platform/httpapi"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
)

// UserFileKind is how files know users. Deleting a user deletes the files of
// this kind with their id.
const UserFileKind = "user"

// FileRecords tells files what there is to know about files of users.
func (s *Store) FileRecords() files.Records { return userFiles{s} }

type userFiles struct{ s *Store }

// FileKind is the kind under which they are stored.
func (userFiles) FileKind() string { return UserFileKind }

// FilePlace keeps a file uploaded for a customer private to them and the admins,
// one uploaded for an admin to the admins.
func (u userFiles) FilePlace(ctx context.Context, id objectid.ID) (files.Place, bool, error) {
	user, err := u.s.db.UserGet(ctx, u.s.deps.Pool, id)
	if postgres.IsNoRows(err) {
		return files.Place{}, false, nil
	}
	if err != nil {
		return files.Place{}, false, fmt.Errorf("read user: %w", err)
	}
	place := files.Place{Purpose: files.Record, Visibility: files.Private}
	if user.UserType == httpapi.TypeCustomer {
		place.ReaderID = user.ID
	}
	return place, true, nil
}

// MayChangeFiles asks for the same rights as changing the user: 403.
func (u userFiles) MayChangeFiles(ctx context.Context, c httpapi.Caller, id objectid.ID) error {
	user, err := u.s.db.UserGet(ctx, u.s.deps.Pool, id)
	if postgres.IsNoRows(err) {
		return nil // what is left of somebody deleted is nobody's
	}
	if err != nil {
		return fmt.Errorf("read user: %w", err)
	}
	return u.s.KeepWithinReach(ctx, u.s.deps.Pool, c, map[objectid.ID]accountsdb.User{id: user})
}

// AbandonedFiles are those of users who are gone, and avatars that are no longer
// anybody's.
func (u userFiles) AbandonedFiles(ctx context.Context, refs []files.Ref) ([]objectid.ID, error) {
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.RecordID.String()
	}
	rows, err := u.s.db.UserListAvatars(ctx, u.s.deps.Pool, ids)
	if err != nil {
		return nil, fmt.Errorf("list avatars: %w", err)
	}
	avatars := make(map[objectid.ID]objectid.ID, len(rows))
	for _, row := range rows {
		avatars[row.ID] = nullable.Value(row.AvatarID)
	}
	var gone []objectid.ID
	for _, ref := range refs {
		avatar, there := avatars[ref.RecordID]
		if !there || ref.Purpose == files.Avatar && avatar != ref.FileID {
			gone = append(gone, ref.FileID)
		}
	}
	return gone, nil
}
