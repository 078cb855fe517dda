package rest

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// contractTexts are the stable parts of the texts that the contract of the REST API prescribes. Messages in golden
// files are added.
var contractTexts = []string{
	"JSON parse error", "400 BAD_REQUEST", "404 NOT_FOUND", "Invalid block value", "value out of range for block",
	"Unknown block number",
	"TransactionHashParameter[", "TransactionIdParameter[", "Contract transaction hash not found",
	"Transaction not found:", "Contract result not found",
	"No contract ", "No result of contract", "gas field must", "gasPrice field must", "value field must",
	"from field must", "to field must",
	"field invalid hexadecimal string", "field must not be", "size must be between 0 and", "are mutually exclusive",
	"Odd number of characters",
	"State overrides are not supported", "rate limit exceeded", "Invalid request", "Sender account not found",
	"highVolumeThrottle must",
	"Unable to parse transaction", "Transaction must contain", "Unknown transaction type", "Extra not defined",
	"Failed to convert '", "Failed to read request",
	"Content-Type '", "Content-Type is not supported", "Invalid range", "Network supply not found",
	"No network stake data found", "Custom fee for entity",
	"Entity not found", "No account found for", "Invalid entity ID", "Invalid credentials", "Service unavailable",
	"Parameter values count exceeds",
	"Array limit exceeded", "Parameter limit exceeded", "Input depth exceeded", "Invalid Transaction id",
	"Unsupported ID format", "Missing transaction ID",
	"Only a single instance is supported", "No static resource", "Request method '", "Accept-Encoding: gzip header",
	"Required request header '",
	"Only equality operator is supported", "Timestamp range must", "Timestamp range by", "for timestamp param",
	"No timestamp range or eq", "Invalid hbar parameter",
	"Invalid accountAlias string", "EVM address or alias only supports", "The 'eq' operator",
	"Requires the presence of an", "Only one range operator from",
}

// TestWording fails if a text of the REST contract is in Go code outside of this directory.
func TestWording(t *testing.T) {
	texts := append(goldenTexts(t), contractTexts...)
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if len(texts) < 80 {
		t.Errorf("%d texts: golden files were not read", len(texts))
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == filepath.Join("..", "rest") || path != ".." && strings.HasPrefix(name, ".") ||
			name == "node_modules"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.HasSuffix(name, "_gen.go") || name == "generated.go":
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Error(err)
			}
			for _, text := range texts {
				if strings.Contains(value, text) {
					t.Errorf("%s: %q is a text of the REST contract: define it in rest/",
						files.Position(literal.Pos()), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// problemSyntax matches the body of a problem in a golden file.
var problemSyntax = regexp.MustCompile(`"_status":\s*(\{\s*"messages":\s*\[[^\]]*\]\s*\})`)

// goldenTexts returns the stable parts of the messages in golden files: what precedes a value.
func goldenTexts(t *testing.T) []string {
	var texts []string
	err := filepath.WalkDir(filepath.Join("v1", "testdata"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" && filepath.Ext(path) != ".golden" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range problemSyntax.FindAllSubmatch(content, -1) {
			var problem struct{ Messages []Item }
			if err := json.Unmarshal(m[1], &problem); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			for _, i := range problem.Messages {
				text := i.Message
				if i.Detail != nil {
					text = *i.Detail
				}
				text, _, _ = strings.Cut(text, `"`)
				text, _, _ = strings.Cut(text, ": ")
				texts = append(texts, strings.TrimSpace(text))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(texts, func(s string) bool { return len(s) < len("Not found") })
}

// TestEndpointFields limits the fields that an endpoint sets. Options that few endpoints use belong in a group.
func TestEndpointFields(t *testing.T) {
	fields := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Endpoint]()), func(f reflect.StructField) bool {
		return !f.IsExported() || len(f.Index) > 1 // set by Init, or in a group
	})
	if n := len(fields); n > 15 {
		t.Errorf("Endpoint has %d fields, at most 15 are allowed", n)
	}
}
