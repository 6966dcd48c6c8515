package finance_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"marquee/modules/finance/financetest"
	"marquee/testutil/soak"
)

// TestGoldenWorkbookInLibreOfficeSoak: a program that has nothing to do with what
// wrote the workbook shows the same figures. UPDATE_GOLDEN=1 also makes the
// picture of docs/analysts.md.
func TestGoldenWorkbookInLibreOfficeSoak(t *testing.T) {
	t.Parallel()
	office, err := exec.LookPath("soffice")
	if err != nil {
		t.Skip("LibreOffice is not installed: excelize alone reads the workbook back")
	}
	picture := os.Getenv("UPDATE_GOLDEN") != ""
	if !soak.On() && !picture {
		t.Skip("LibreOffice takes seconds to start: make soak opens the workbook with it")
	}
	b := goldenAPI(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "finance.xlsx")
	require.NoError(t, os.WriteFile(file,
		b.admin.Get("/admin/finance/export?start=2026-01-01&end=2026-08-20").Expect(http.StatusOK).Body, 0o600))
	convert := func(to string) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		said, err := exec.CommandContext(ctx, office, "-env:UserInstallation=file://"+dir+"/profile", "--headless",
			"--convert-to", to, "--outdir", dir, file).CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	// All sheets, as they are shown: comma, quotes, UTF-8.
	convert("csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,true,false,false,-1")
	text := func(sheet string) string {
		content, err := os.ReadFile(filepath.Join(dir, "finance-"+sheet+".csv"))
		require.NoError(t, err)
		return string(content)
	}
	summary := text("summary")
	for _, r := range financetest.Table(t, "Overview") {
		switch r["figure"] {
		case "mrr":
			require.Contains(t, summary, fmt.Sprintf("\nmrr,,%q\n", grouped(r.Int(t, "value"))))
		case "churn_rate_30d":
			require.Contains(t, summary, "\nchurn_rate_30d,,"+r["value"]+"%\n")
		case "active_subscriptions":
			require.Contains(t, summary, "\nactive_subscriptions,,"+r["value"]+"\n")
		}
	}
	require.Contains(t, summary, "\nstart,,2026-01-01\n")
	require.Contains(t, summary, "\ngenerated_at,,2026-08-20 12:00:00\n", "in the report time zone")
	require.Contains(t, text("overdue"),
		","+financetest.ID("S60").String()+",basic,Basic,gwa,boleto,0,2026-05-08 09:00:00,,73,suspended,19.90\n")
	require.Contains(t, text("cancellations"), "\n2026-04-30 23:59:59,2026-04-30,"+financetest.ID("C31").String()+",")
	require.Contains(t, text("refunds"), ",pay_R1,598.80,admin,")
	if picture {
		convert("pdf")
		drawPicture(t, filepath.Join(dir, "finance.pdf"))
	}
}

// drawPicture makes the picture of the docs of the workbook's first page.
func drawPicture(t *testing.T, pages string) {
	t.Helper()
	draw, err := exec.LookPath("pdftoppm")
	if err != nil {
		t.Skip("pdftoppm (poppler-utils) is not installed: docs/finance-export.png stays as it is")
	}
	said, err := exec.CommandContext(t.Context(), draw, "-png", "-r", "80", "-singlefile", "-x", "45", "-y", "70", "-W",
		"505", "-H", "682", pages, "../../docs/finance-export").CombinedOutput()
	require.NoError(t, err, "%s", said)
}

// grouped is an amount of cents with thousands set apart, as 1,303.70.
func grouped(cents int64) string {
	return fmt.Sprintf("%d,%03d.%02d", cents/100_000, cents/100%1000, cents%100)
}
