package export

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/testutil/soak"
)

// LibreOffice reads what excelize wrote: a program that has nothing to do with it.
func TestLibreOfficeOpensTheWorkbookSoak(t *testing.T) {
	t.Parallel()
	if !soak.On() {
		t.Skip("LibreOffice takes seconds to start: make soak opens the workbook with it")
	}
	office, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("LibreOffice is not installed: the workbook is opened by excelize alone")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "kinds.xlsx")
	hostile := texts("=1+1", "+5511987654321", "a\nb", "_x000D_", "\x01")
	require.NoError(t, os.WriteFile(file,
		written(t, XLSX, Options{}, everyKind(full("São Paulo"), make([]Value, 8)), hostile), 0o600))

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, office, "-env:UserInstallation=file://"+dir+"/profile", "--headless",
		"--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1", "--outdir",
		dir, file)
	said, err := command.CombinedOutput()
	require.NoError(t, err, "%s", said)
	for sheet, want := range map[string]string{
		"kinds": "text,integer,money,decimal,percent,day,at,yes\n" +
			"São Paulo,-7,-1234.05,1.75,12.35%,2026-02-28,2026-03-01 02:59:59,TRUE\n",
		"texts": "text\n=1+1\n+5511987654321\n\"a\nb\"\n_x000D_\n\ufffd\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, "kinds-"+sheet+".csv"))
		require.NoError(t, err, "%s", said)
		require.Equal(t, want, string(got))
	}
}
