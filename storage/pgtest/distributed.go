package pgtest

import (
	"context"
	"fmt"
	"strings"
)

// Distributed makes gateways read the database at url key by key, as if its tables were distributed with Citus. columns has the distribution column of each
// table. It creates a view that replaces that of Citus.
func Distributed(ctx context.Context, url string, columns map[string]string) error {
	var rows []string
	for table, column := range columns {
		rows = append(rows, fmt.Sprintf("('%s'::regclass, 'distributed', '%s')", table, column))
	}
	return admin(ctx, url, `create view citus_tables (table_name, citus_table_type, distribution_column) as values `+strings.Join(rows, ", "))
}
