package sessions

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"marquee/platform/secret"
)

var cheap = PasswordCost{Passes: 1, MemoryKiB: 64, Threads: 1}

func TestHashIsPHC(t *testing.T) {
	t.Parallel()
	h := NewHasher(PasswordCost{}, 128)
	stored, err := h.Hash(t.Context(), secret.NewText("correct horse"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$"), stored)
	again, err := h.Hash(t.Context(), secret.NewText("correct horse"))
	require.NoError(t, err)
	require.NotEqual(t, stored, again, "each hash has a salt of its own")
	ok, stale, err := h.verify(secret.NewText("correct horse"), &stored)
	require.NoError(t, err)
	require.True(t, ok)
	require.False(t, stale)
}

func TestVerifyPassword(t *testing.T) {
	t.Parallel()
	h := NewHasher(cheap, 128)
	ours := h.derive("correct horse")
	foreign := NewHasher(PasswordCost{Passes: 2, MemoryKiB: 32, Threads: 1}, 128).derive("correct horse")
	imported, err := bcrypt.GenerateFromPassword([]byte("correct horse"), bcrypt.MinCost)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		stored    string
		password  string
		ok, stale bool
	}{
		"right":               {ours, "correct horse", true, false},
		"wrong":               {ours, "correct horsf", false, false},
		"other case":          {ours, "Correct horse", false, false},
		"empty":               {ours, "", false, false},
		"older cost":          {foreign, "correct horse", true, true},
		"bcrypt, right":       {string(imported), "correct horse", true, true},
		"bcrypt, wrong":       {string(imported), "correct horsf", false, true},
		"bcrypt of PHP, $2y$": {"$2y$" + string(imported)[4:], "correct horse", true, true},
	} {
		ok, stale, err := h.verify(secret.NewText(c.password), &c.stored)
		require.NoError(t, err, name)
		require.Equal(t, c.ok, ok, name)
		require.Equal(t, c.stale, stale, name)
	}
	ok, _, err := h.verify(secret.NewText("correct horse"), nil)
	require.NoError(t, err)
	require.False(t, ok, "nobody's password never matches")
}

func TestMalformedHashIsAnErrorThatDoesNotShowIt(t *testing.T) {
	t.Parallel()
	h := NewHasher(cheap, 128)
	for _, stored := range []string{
		"", "plain", "$argon2id$v=19$m=64,t=1,p=1$!!!!$!!!!", "$argon2i$v=19$m=64,t=1,p=1$c2FsdA$c2FsdA",
		"$argon2id$v=19$m=64,t=0,p=1$c2FsdHNhbHRzYWx0c2FsdA$c2FsdHNhbHRzYWx0c2FsdA", "$2a$xx",
	} {
		ok, _, err := h.verify(secret.NewText("x"), &stored)
		require.Error(t, err, stored)
		require.False(t, ok)
		if stored != "" {
			require.NotContains(t, err.Error(), stored)
		}
	}
}
