package main

import (
	"bytes"
	"encoding/csv"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

// scalarFile is the file that [scalars] writes. gqlgen binds the functions of package scalar, so it must exist before
// gqlgen runs.
const scalarFile = "graph/scalar/scalar_gen.go"

// scalarType is a scalar or enum with the Go type of its values. gqlgen.yml binds it to the functions of package
// scalar with its name.
type scalarType struct {
	Name, Type string
	OutputOnly bool // has no Unmarshal function, but gqlgen needs one
}

// declarationsIn parses the Go files of a folder, without generated ones and tests, and returns their
// declarations. It ends the program on an error.
func declarationsIn(folder string) (list []ast.Decl) {
	names, err := filepath.Glob(folder + "/*.go")
	check(err)
	for _, name := range names {
		if strings.HasSuffix(name, "_gen.go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		check(err)
		list = append(list, file.Decls...)
	}
	return list
}

// receiverOf returns the type of the receiver of a method and the name of the method. The type is empty for a
// function.
func receiverOf(f *ast.FuncDecl) (receiver, name string) {
	if f.Recv != nil {
		receiver = strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
	}
	return receiver, f.Name.Name
}

// declared returns the types with a hand-written Append function in package scalar, and the set of the names of all
// its hand-written functions, except generic ones. It parses the Go files, and ends the program on an error.
func declared() (list []scalarType, functions map[string]bool) {
	functions = map[string]bool{}
	for _, d := range declarationsIn("graph/scalar") {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Type.TypeParams != nil {
			continue
		}
		functions[f.Name.Name] = true
		if name, ok := strings.CutPrefix(f.Name.Name, "Append"); ok {
			params := f.Type.Params.List // of which the last one is the style
			list = append(list, scalarType{Name: name, Type: types.ExprString(params[len(params)-2].Type)})
		}
	}
	return list, functions
}

// scalarTypes returns all types of package scalar, and the rows of scalars.csv by their kind: in groups, "enum" has
// the enums whose Go type is a string, "nullable" the scalars and enums with a variant for [ledger.Null], and
// "written" enums with hand-written functions. In all, such a variant is a type of its own, with Null before the name.
// An error ends the program; see [check].
func scalarTypes() (all []scalarType, groups map[string][]scalarType) {
	all, written := declared()
	groups = map[string][]scalarType{}
	for _, row := range readTable("graph/generate/scalars.csv") {
		t := scalarType{Name: row[1], Type: row[2]}
		groups[row[0]] = append(groups[row[0]], t)
		if row[0] == "nullable" {
			t = scalarType{Name: "Null" + t.Name, Type: "ledger.Null[" + t.Type + "]"}
		}
		if row[0] != "written" {
			all, written["Unmarshal"+t.Name] = append(all, t), true
		}
	}
	for i := range all {
		all[i].OutputOnly = !written["Unmarshal"+all[i].Name]
	}
	return all, groups
}

// scalars returns the source of the generated file of package scalar: the functions that differ between types only in
// their names. An error ends the program; see [check].
func scalars() []byte {
	all, groups := scalarTypes()
	return render("scalar", "scalars", map[string]any{
		"Enums": groups["enum"], "Nullables": groups["nullable"],
		"All": all,
	})
}

// codesFile is the file that [codes] writes.
const codesFile = "internal/domain/ledger/codes/codes_gen.go"

// initialisms are words in the names of response codes and enum values that are not written as usual.
var initialisms = map[string]string{
	"ID": "ID", "NFT": "NFT", "NFTS": "NFTs", "KYC": "KYC", "EVM": "EVM", "OK": "OK", "ECDSA": "ECDSA",
	"ED25519": "ED25519", "RPC": "RPC", "RSA": "RSA",
}

// fieldInitialisms writes the initialisms in the name of a field that gqlgen does not know.
var fieldInitialisms = strings.NewReplacer("Evm", "EVM", "Grpc", "GRPC", "Nft", "NFT", "Kyc", "KYC", "Ids", "IDs",
	"Apis", "APIs")

// codes returns the source of package codes, with a constant for each response code and each transaction type of the
// network, from the CSV files of package ledger. An error ends the program; see [check].
func codes() []byte {
	const folder = "internal/domain/ledger/data/"
	return render("codes", "codes", map[string]any{
		"Results": readTable(folder + "transaction_results.csv"),
		"Types":   readTable(folder + "transaction_types.csv"),
	})
}

// readTable returns the rows of a CSV file without the header, which the file must have. It ends the program on an
// error.
func readTable(path string) [][]string {
	text, err := os.ReadFile(path)
	check(err)
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	check(err)
	return rows[1:]
}

// constantName returns the Go name of a response code or an enum value in upper case, such as InvalidAccountID for
// INVALID_ACCOUNT_ID. It panics if a word between underscores is empty.
func constantName(code string) string {
	words := strings.Split(code, "_")
	for i, word := range words {
		if words[i] = initialisms[word]; words[i] == "" {
			words[i] = word[:1] + strings.ToLower(word[1:])
		}
	}
	return strings.Join(words, "")
}
