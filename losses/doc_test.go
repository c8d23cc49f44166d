package losses

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// functions are the exported functions of the package's files by the loss that they build: the first text in them.
func functions(t *testing.T) map[string][]*ast.FuncDecl {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]*ast.FuncDecl{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if called, ok := call.Fun.(*ast.Ident); ok && (called.Name == "named" || called.Name == "withParameter") {
					name := strings.Trim(call.Args[0].(*ast.BasicLit).Value, `"`)
					found[name] = append(found[name], f)
				}
				return true
			})
		}
	}
	return found
}

// Every row has one function of its name, whose comment has what it returns and its source, and is in
// the list of the package comment.
func TestEveryLossIsADocumentedFunction(t *testing.T) {
	list, err := os.ReadFile("losses.go")
	if err != nil {
		t.Fatal(err)
	}
	found, source := functions(t), regexp.MustCompile(`\b(19|20)\d\d[),]|CatBoost|logistic regression|\[PLRank1LOO\]|docs/pl-rank-rb.md`)
	for _, e := range table {
		var of *ast.FuncDecl
		for _, f := range found[e.name] {
			if strings.EqualFold(f.Name.Name, strings.ReplaceAll(e.name, "-", "")) {
				of = f
			}
		}
		if of == nil {
			t.Errorf("%s has no exported function of its name", e.name)
			continue
		}
		name, doc := of.Name.Name, of.Doc.Text()
		if !strings.HasPrefix(doc, name+" returns the loss") {
			t.Errorf("%s: the comment begins with %.40q: want %q", name, doc, name+" returns the loss …")
		}
		if e.name != exact && !source.MatchString(doc) {
			t.Errorf("%s: the comment has no source", name)
		}
		if !strings.Contains(string(list), "["+name+"]") {
			t.Errorf("%s is missing in the package comment", name)
		}
		if params := of.Type.Params.List[0].Names[0].Name; e.number.name != "" && params != e.number.name {
			t.Errorf("%s has the parameter %s, the table %s", name, params, e.number.name)
		}
		for _, by := range e.names()[1:] {
			if e.through == nil && len(found[by]) != 1 {
				t.Errorf("%s has %d functions, want 1", by, len(found[by]))
			}
		}
	}
	if f := found["disparity"]; len(f) != 2 {
		t.Errorf("%d functions build disparity, want Disparity and DisparityBy", len(f))
	}
}
