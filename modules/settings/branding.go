package settings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"marquee/modules/settings/internal/settingsdb"
	"marquee/platform/audit"
	"marquee/platform/fault"
	"marquee/platform/image"
	"marquee/platform/mail"
	"marquee/platform/postgres"
	"marquee/platform/resource"
)

const (
	// maxLogo bounds a logo, as it comes and as it is kept.
	maxLogo = 512 << 10
	// maxLogoPixels keeps a small file from becoming a large picture in memory.
	maxLogoPixels = 4_000_000
	// logoSide and mailLogoSide bound what is kept, in pixels a side: twice what is shown.
	logoSide, mailLogoSide = 512, 240
)

// brandingChange is what an admin wants to be other; nil: as it is.
type brandingChange struct {
	name, accentLight, accentDark *string
	logo                          *logoChange
	readAt                        *time.Time
}

// logoChange is a new logo; none where its sum is "".
type logoChange struct {
	sum       string
	png, mail []byte
}

// branding reads what the platform is called and looks like.
func (s *Service) branding(ctx context.Context) (settingsdb.SettingsBranding, error) {
	b, err := s.db.BrandingGet(ctx, s.deps.Pool)
	if err != nil {
		return b, fmt.Errorf("read branding: %w", err)
	}
	return b, nil
}

// MailBrand is what mails show of the platform, for mail.Templates.
func (s *Service) MailBrand(ctx context.Context) (mail.Brand, error) {
	b, err := s.db.BrandingMailGet(ctx, s.deps.Pool)
	if err != nil {
		return mail.Brand{}, fmt.Errorf("read branding: %w", err)
	}
	return mail.Brand{Name: b.Name, Accent: b.AccentLight, Logo: b.MailPng}, nil
}

// Name is what the platform is called.
func (s *Service) Name(ctx context.Context) (string, error) {
	b, err := s.branding(ctx)
	return b.Name, err
}

// logo is the logo and its sum; 404 without one.
func (s *Service) logo(ctx context.Context) (png []byte, sum string, err error) {
	row, err := s.db.BrandingLogoGet(ctx, s.deps.Pool)
	if postgres.IsNoRows(err) || err == nil && row.LogoSum == nil {
		return nil, "", fault.NotFound("Logo")
	}
	if err != nil {
		return nil, "", fmt.Errorf("read logo: %w", err)
	}
	return row.Png, *row.LogoSum, nil
}

// readLogo checks a logo and makes what is kept of it: upright, without metadata, no larger than it is shown.
func (s *Service) readLogo(ctx context.Context, data []byte) (*logoChange, error) {
	refuse := func(says string) error { return fault.InvalidAt(says, "body", "logo") }
	if len(data) > maxLogo {
		return nil, refuse("is larger than 512 kB")
	}
	head, err := image.Inspect(data)
	switch {
	case isXML(data):
		return nil, refuse("has to be a PNG: an SVG is made into one first, as the console does")
	case errors.Is(err, image.ErrFormat), err == nil && head.Format != image.PNG:
		return nil, refuse("has to be a PNG")
	case errors.Is(err, image.ErrTooLarge), err == nil && head.Width*head.Height > maxLogoPixels:
		return nil, refuse("has more than 4 megapixels")
	case err != nil:
		return nil, err
	}
	whole, err := s.images.Normalize(ctx, data, logoSide)
	if errors.Is(err, image.ErrFormat) {
		return nil, refuse("has to be a PNG")
	}
	if err != nil {
		return nil, err
	}
	small, err := s.images.Normalize(ctx, whole.Data, mailLogoSide)
	if err != nil {
		return nil, err
	}
	if len(whole.Data) > maxLogo || len(small.Data) > maxLogo {
		return nil, refuse("is larger than 512 kB once it is written anew: take one with fewer pixels")
	}
	sum := sha256.Sum256(whole.Data)
	return &logoChange{sum: hex.EncodeToString(sum[:]), png: whole.Data, mail: small.Data}, nil
}

// isXML tells texts that are XML from other files, for a better sentence alone.
func isXML(data []byte) bool {
	head := strings.TrimPrefix(string(data[:min(len(data), 256)]), "\ufeff")
	return strings.HasPrefix(strings.TrimSpace(head), "<")
}

// checkBranding is 422 for what the words or colours may not be.
func checkBranding(c brandingChange) error {
	if c.name != nil {
		name := strings.TrimSpace(*c.name)
		switch {
		case name == "":
			return fault.InvalidAt("has to have 1 to 40 characters", "body", "name")
		case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
			return fault.InvalidAt("may hold only letters, digits, signs and single spaces", "body", "name")
		}
		*c.name = name
	}
	for _, accent := range []struct {
		field string
		text  *string
		theme theme
	}{{"accent_light", c.accentLight, light}, {"accent_dark", c.accentDark, dark}} {
		if accent.text == nil {
			continue
		}
		*accent.text = strings.ToLower(*accent.text)
		if says := accent.theme.refuses(*accent.text); says != "" {
			return fault.InvalidAt(says, "body", accent.field)
		}
	}
	return nil
}

// changeBranding applies a change that has been checked, and writes down what became different. 409 where somebody
// changed the branding since it was read.
func (s *Service) changeBranding(ctx context.Context, c brandingChange) (after settingsdb.SettingsBranding, err error) {
	err = postgres.InTx(ctx, s.deps.Pool, func(tx pgx.Tx) error {
		before, err := s.db.BrandingLock(ctx, tx)
		if err != nil {
			return err
		}
		if c.readAt != nil && !c.readAt.Equal(before.UpdatedAt.Truncate(time.Millisecond)) {
			return resource.Stale(ctx, tx, "branding", "", before.UpdatedAt)
		}
		after = before
		c.apply(&after)
		if same(before, after) {
			return nil
		}
		after.UpdatedAt = s.deps.Clock.Now()
		if err := s.writeBranding(ctx, tx, c, after); err != nil {
			return err
		}
		for _, r := range []settingRow{
			{"brand_name", &before.Name, &after.Name},
			{"brand_accent_light", &before.AccentLight, &after.AccentLight},
			{"brand_accent_dark", &before.AccentDark, &after.AccentDark},
			{"brand_logo", before.LogoSum, after.LogoSum},
		} {
			if err := s.recordOneTx(ctx, tx, r); err != nil {
				return err
			}
		}
		return audit.RecordTx(ctx, tx, audit.Change{
			Resource: "branding", Before: brandingValuesOf(before), After: brandingValuesOf(after),
		})
	})
	if err != nil {
		return after, fmt.Errorf("change branding: %w", err)
	}
	return after, nil
}

func (s *Service) writeBranding(ctx context.Context, tx pgx.Tx, c brandingChange, b settingsdb.SettingsBranding) error {
	err := s.db.BrandingUpdate(ctx, tx, settingsdb.BrandingUpdateParams{
		Name: b.Name, AccentLight: b.AccentLight, AccentDark: b.AccentDark, LogoSum: b.LogoSum, UpdatedAt: b.UpdatedAt,
	})
	switch {
	case err != nil || c.logo == nil:
		return err
	case c.logo.sum == "":
		return s.db.BrandingLogoDelete(ctx, tx)
	}
	return s.db.BrandingLogoPut(ctx, tx, settingsdb.BrandingLogoPutParams{Png: c.logo.png, MailPng: c.logo.mail})
}

func (c brandingChange) apply(b *settingsdb.SettingsBranding) {
	for to, from := range map[*string]*string{
		&b.Name: c.name, &b.AccentLight: c.accentLight, &b.AccentDark: c.accentDark,
	} {
		if from != nil {
			*to = *from
		}
	}
	if c.logo != nil {
		b.LogoSum = nil
		if c.logo.sum != "" {
			b.LogoSum = &c.logo.sum
		}
	}
}

func same(a, b settingsdb.SettingsBranding) bool { return brandingValuesOf(a) == brandingValuesOf(b) }

// brandingValues is the branding as the audit trail shows it.
type brandingValues struct {
	Name        string `json:"name"`
	AccentLight string `json:"accent_light"`
	AccentDark  string `json:"accent_dark"`
	LogoSum     string `json:"logo_sum"` // "" without one
}

func brandingValuesOf(b settingsdb.SettingsBranding) brandingValues {
	v := brandingValues{Name: b.Name, AccentLight: b.AccentLight, AccentDark: b.AccentDark}
	if b.LogoSum != nil {
		v.LogoSum = *b.LogoSum
	}
	return v
}
