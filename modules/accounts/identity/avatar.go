package identity

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"marquee/modules/accounts/internal/accountsdb"
	"marquee/modules/files"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/nullable"
	"marquee/platform/objectid"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

// SetAvatar makes the image the user's avatar and deletes the old one. Two at
// once end with one file. 404 when the user is gone.
func (s *Store) SetAvatar(ctx context.Context, userID objectid.ID, img files.Image) (avatarID objectid.ID, err error) {
	err = s.changeAvatar(ctx, userID, func(tx pgx.Tx) (*objectid.ID, error) {
		f, err := s.deps.Files.StoreImageTx(ctx, tx, img,
			files.Place{Purpose: files.Avatar, Kind: UserFileKind, RecordID: userID, CreatedBy: userID})
		avatarID = f.ID
		return &avatarID, err
	})
	return avatarID, err
}

// RemoveAvatar deletes the user's avatar, if there is one.
func (s *Store) RemoveAvatar(ctx context.Context, userID objectid.ID) error {
	return s.changeAvatar(ctx, userID, func(pgx.Tx) (*objectid.ID, error) { return nil, nil })
}

func (s *Store) changeAvatar(ctx context.Context, userID objectid.ID, store func(pgx.Tx) (*objectid.ID, error)) error {
	err := postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		u, err := s.db.UserLockAny(ctx, tx, userID)
		if postgres.IsNoRows(err) {
			return fault.NotFound("User")
		}
		if err != nil {
			return err
		}
		if err := s.deps.Files.DeletePurposeTx(ctx, tx, UserFileKind, userID, files.Avatar); err != nil {
			return err
		}
		id, err := store(tx)
		if err != nil {
			return err
		}
		if err := s.db.UserSetAvatar(ctx, tx, accountsdb.UserSetAvatarParams{
			ID: userID, AvatarID: id, Now: s.deps.Clock.Now(),
		}); err != nil {
			return err
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: UsersName, RecordID: userID, Before: map[string]any{"avatar_id": u.AvatarID},
			After: map[string]any{"avatar_id": id},
		})
	})
	if err != nil {
		return fmt.Errorf("change avatar: %w", err)
	}
	return nil
}

// NotUsersPicture is what is wrong with an avatar_id that names no picture of its
// user.
const NotUsersPicture = "has to be your own picture, as POST /me/avatar returns it"

// MayUsePictureTx reports whether the user may show the picture: one of their own, or
// the one that the record names already.
func (s *Store) MayUsePictureTx(ctx context.Context, tx pgx.Tx, u accountsdb.User, picture objectid.ID) (bool, error) {
	if picture == "" || picture == nullable.Value(u.AvatarID) {
		return true, nil
	}
	all, err := s.deps.Files.FilesOfRecords(ctx, tx, UserFileKind, u.ID)
	return slices.ContainsFunc(all, func(f files.File) bool { return f.ID == picture && f.Purpose == files.Avatar }),
		err
}

// DropOtherAvatarsTx deletes the avatars of the user but the one to keep, which
// may be none: whoever takes an avatar off a record, or shows another one, leaves
// no file behind.
func (s *Store) DropOtherAvatarsTx(ctx context.Context, tx pgx.Tx, userID, keep objectid.ID) error {
	all, err := s.deps.Files.FilesOfRecords(ctx, tx, UserFileKind, userID)
	if err != nil {
		return err
	}
	for _, f := range all {
		if f.Purpose != files.Avatar || f.ID == keep {
			continue
		}
		if err := s.deps.Files.DeleteTx(ctx, tx, UserFileKind, userID, f.ID); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceAvatarsTx does so for the records of a PUT that carry an avatar_id; 422
// for one that is no picture of the user whose record it is.
func (s *Store) ReplaceAvatarsTx(ctx context.Context, tx pgx.Tx, records []*resource.Record,
	users map[objectid.ID]accountsdb.User,
) error {
	for _, rec := range records {
		v, sent := rec.Value("avatar_id")
		if !sent {
			continue
		}
		id, _ := v.(string)
		permitted, err := s.MayUsePictureTx(ctx, tx, users[rec.ID], objectid.ID(id))
		if err != nil {
			return err
		}
		if !permitted {
			return rec.Invalid("avatar_id", NotUsersPicture)
		}
		if err := s.DropOtherAvatarsTx(ctx, tx, rec.ID, objectid.ID(id)); err != nil {
			return err
		}
	}
	return nil
}
