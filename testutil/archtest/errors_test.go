package archtest_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	codeInSource   = regexp.MustCompile(`\bCode\w*(?:\s*=|:)\s*"([A-Z][A-Z_]+)"`)
	statusInSource = regexp.MustCompile(`\bhttp\.Status([A-Z]\w+)`)
	rowOfErrors    = regexp.MustCompile("(?m)^\\| (\\d{3}) \\| (?:`([A-Z_]+)`|–) \\|")
)

// TestThePageOfErrorsIsWhole: docs/errors.md lists every code and every status of an error
// that the source holds, and no other.
func TestThePageOfErrorsIsWhole(t *testing.T) {
	t.Parallel()
	numbers := map[string]string{} // by the constant's name
	for status := 400; status < 600; status++ {
		numbers[strings.ReplaceAll(http.StatusText(status), " ", "")] = strconv.Itoa(status)
	}
	codes, statuses := map[string]bool{}, map[string]bool{}
	for _, tree := range []string{"modules", "platform"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root(t), tree),
			func(path string, entry fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return err
				case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
					return nil
				}
				source, err := os.ReadFile(path)
				for _, found := range codeInSource.FindAllSubmatch(source, -1) {
					codes[string(found[1])] = true
				}
				if strings.Contains(path, "modules/payments/gw") || strings.HasSuffix(path, "test") ||
					strings.HasSuffix(path, "platform/tracing/collector.go") {
					return err // what gateways and a collector answer
				}
				for _, found := range statusInSource.FindAllSubmatch(source, -1) {
					if number := numbers[string(found[1])]; number != "" {
						statuses[number] = true
					}
				}
				return err
			}))
	}
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "errors.md"))
	require.NoError(t, err)
	listedCodes, listed := map[string]bool{}, map[string]bool{}
	for _, row := range rowOfErrors.FindAllStringSubmatch(string(page), -1) {
		listed[row[1]] = true
		if row[2] != "" {
			listedCodes[row[2]] = true
		}
	}
	require.Equal(t, codes, listedCodes)
	require.Equal(t, statuses, listed)
	require.Greater(t, len(codes), 10)
	require.Greater(t, len(statuses), 15)
}
