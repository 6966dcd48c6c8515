package files

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"marquee/modules/files/internal/filesdb"
	"marquee/platform/clock"
	"marquee/platform/httpapi"
	"marquee/platform/image"
	"marquee/platform/postgres"
)

// Service stores files, serves them to whom they are meant for, and keeps the
// archive tokens.
type Service struct {
	deps     Deps
	db       *filesdb.Queries
	users    Users
	records  map[string]Records // by kind
	public   publicIDs
	images   *image.Processor
	variants *variantCache
	making   singleflight.Group // of variants
}

// Config holds the module's limits and key; the zero value of a limit means the contract's (docs/contract/README.md,
// Limits are configuration).
type Config struct {
	ArchiveTokenTTL    time.Duration // default 12 h
	MaxImageBytes      int64         // default 5 MiB; exactly as many pass
	MaxAttachmentBytes int64         // default 10 MiB; exactly as many pass
	FileKey            []byte        // FILE_KEY, the master key that public ids are made with
	PublicURL          string        // scheme and host under which clients reach the service
}

// Deps is what New needs.
type Deps struct {
	Pool   postgres.Pool
	Clock  clock.Clock
	Log    *slog.Logger // default: slog.Default
	Config Config
}

// Users tells who stands behind an archive token. The module accounts fills it.
type Users interface {
	// Caller reads the user that the claims name; it fails when the user is
	// gone, disabled, or has ended tokens of that age.
	Caller(ctx context.Context, claims httpapi.Claims) (httpapi.Caller, error)
}

// New makes the service. Connect the modules above before the first request.
func New(d Deps) *Service {
	d.Config.ArchiveTokenTTL = cmp.Or(d.Config.ArchiveTokenTTL, 12*time.Hour)
	d.Config.MaxImageBytes = cmp.Or(d.Config.MaxImageBytes, 5<<20)
	d.Config.MaxAttachmentBytes = cmp.Or(d.Config.MaxAttachmentBytes, 10<<20)
	if d.Log == nil {
		d.Log = slog.Default()
	}
	return &Service{
		deps: d, db: filesdb.New(), records: map[string]Records{}, public: newPublicIDs(d.Config.FileKey),
		images: image.NewProcessor(0), variants: newVariantCache(variantCacheBytes),
	}
}

// Above is what the modules above do for files.
type Above struct {
	Users   Users     // who stands behind an archive token
	Records []Records // what files belong to, one of each kind
}

// Connect tells files of the modules above. It is called while the platform is put together,
// before the first request; a kind of records that stands twice is a mistake of ours.
func (s *Service) Connect(above Above) {
	s.users = above.Users
	for _, k := range above.Records {
		if _, twice := s.records[k.FileKind()]; twice {
			panic("files: records of kind " + k.FileKind() + " are registered twice")
		}
		s.records[k.FileKind()] = k
	}
}
