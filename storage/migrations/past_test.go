package migrations

import (
	"regexp"
	"strings"
	"testing"

	"heliograph/storage"
)

// TestPastTables checks that every table is read at past moments in some way or refused, and that the queries of
// versions have all columns.
func TestPastTables(t *testing.T) {
	t.Parallel()
	queries := storage.PastTables()
	for _, row := range readTable(t, "columns.csv") {
		table, column := row["table"], row["column"]
		query, known := queries[table]
		if !known {
			t.Errorf("storage/moment.go does not say how %s is read at a past moment", table)
			queries[table] = ""
		}
		if query != "" && !strings.HasPrefix(query, "select * from "+table) &&
			!regexp.MustCompile(`\b`+column+`\b`).MatchString(query) {
			t.Errorf("the query of %s at a past moment lacks %s", table, column)
		}
	}
}
