package gateway

import (
	"encoding/csv"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"heliograph/rest"
)

// number sets the numbers in a value to different ones, and calls each with the path of a number and its text in the
// limits.
func number(v reflect.Value, path string, next *int64, each func(path, text string)) {
	switch duration, isDuration := v.Interface().(time.Duration); {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case f.Anonymous:
				number(v.Field(i), path, next, each)
			case f.IsExported():
				number(v.Field(i), strings.TrimPrefix(path+"."+f.Name, "."), next, each)
			}
		}
	case isDuration:
		_ = duration
		*next++
		v.SetInt(*next * int64(time.Millisecond))
		each(path, strconv.FormatInt(*next, 10))
	case v.CanInt():
		*next++
		v.SetInt(*next)
		each(path, strconv.FormatInt(*next, 10))
	}
}

// noLimits are the numbers in the options that refuse no request of a client.
var noLimits = map[string]string{
	"Graph.CacheBytes": "a cache", "Graph.DocumentBytes": "a cache", "EVM.CacheBytes": "a cache",
	"Graph.Streams.KeepAlive": "an interval", "Graph.PollInterval": "an interval",
	"EVM.BlockHashWindow": "what contracts read", "Graph.Streams.InitTimeout": "of a WebSocket without a first message",
	"Graph.Streams.WriteTimeout": "of clients that do not read",
	"Graph.Streams.QueryTimeout": "is RequestTimeout", "Graph.Backlog": "of clients that do not read",
	"EVM.RefundPercent": "a part of GasPerSecond", "EVM.MinimumBalance": "of contract calls",
	"EVM.PragueBlock.V": "a block", "EVM.CalldataFloor.V": "a switch", "MemoryLimit": "of all requests",
	"MaxLag":    "of readiness",
	"REST.Base": "an ID", "Media.Places.Base": "an ID",
	"REST.TokensInList": "cuts lists", "REST.TokensOfAccount": "cuts lists",
	"REST.MaxTransactionsRange": "cuts ranges",
}

// TestLimitsOfOptions checks that each number in the options that can refuse a request is in the description of the
// gateway.
func TestLimitsOfOptions(t *testing.T) {
	t.Parallel()
	o := &Options{REST: &rest.Config{}}
	next := int64(70_000)
	texts := map[string]string{}
	add := func(path, text string) { texts[path] = text }
	number(reflect.ValueOf(o).Elem(), "", &next, add)
	number(reflect.ValueOf(o.REST).Elem(), "REST", &next, add)
	described, err := json.Marshal(describeSelf(o))
	if err != nil {
		t.Fatal(err)
	}
	numbers := regexp.MustCompile(`\d+`).FindAllString(string(described), -1)
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		if slices.Contains(numbers, texts[path]) == (noLimits[path] != "") {
			t.Errorf("%s: the description of the gateway has this number, or must have it: add it to describeSelf or "+
				"to noLimits", path)
		}
	}
	if len(texts) < 40 {
		t.Errorf("%d numbers: the options were not read", len(texts))
	}
}

// limitPackages are the packages that refuse requests.
var limitPackages = []string{
	"graph", "graph/limits", "graph/relay", "graph/rowplan", "graph/scalar", "graph/server",
	"internal/domain/evm/calls", "internal/domain/evm/system/abi", "internal/domain/fees", "internal/domain/ledger",
	"internal/domain/media",
	"resolvers", "resolvers/contractcalls", "resolvers/loading", "resolvers/past", "resolvers/statuspages", "rest",
	"rest/v1", "storage", "storage/entities",
	"storage/ledgerstate", "storage/transactions",
}

// TestLimitsOfCode checks that each constant that begins with max is in the description of the gateway, or in a table
// with the reason why it is not.
func TestLimitsOfCode(t *testing.T) {
	t.Parallel()
	described, err := os.ReadFile("self.go")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.Open("testdata/constants.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	rows, err := csv.NewReader(table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, row := range rows {
		reasons[row[0]] = row[1]
	}
	found := 0
	for _, folder := range limitPackages {
		for _, name := range limitsIn(t, filepath.Join("../..", folder)) {
			found++
			known := folder + "." + name
			inDescription := regexp.MustCompile(`\b` + filepath.Base(folder) + `\.` + name + `\b`).Match(described)
			if inDescription == (reasons[known] != "") {
				t.Errorf("%s: add it to describeSelf, or to testdata/constants.csv with the reason why it refuses no "+
					"request", known)
			}
			delete(reasons, known)
		}
	}
	if found < 50 || len(reasons) > 0 {
		t.Errorf("%d constants; those in testdata/constants.csv that do not exist: %v", found, reasons)
	}
}

// limitsIn returns the names of the constants in a folder that begin with max.
func limitsIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					for _, name := range s.(*ast.ValueSpec).Names {
						if strings.HasPrefix(strings.ToLower(name.Name), "max") {
							names = append(names, name.Name)
						}
					}
				}
			}
		}
	}
	return names
}
