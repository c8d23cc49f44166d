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

// returning are the comments of the exported functions of the package's files that return an Objective.
func returning(t *testing.T) map[string]string {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
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
			if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
				continue
			}
			if result, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && result.Name == "Objective" {
				found[f.Name.Name] = f.Doc.Text()
			}
		}
	}
	return found
}

// The comment of a function that returns a loss has what it is, with a source, and the function is in the list of the package
// comment. Every name is in that list, too, or is the name of a function.
func TestEveryLossIsADocumentedFunction(t *testing.T) {
	list, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	losses, source := returning(t), regexp.MustCompile(`\b(19|20)\d\d[),]|CatBoost|logistic regression|docs/exact.md`)
	functions := map[string]bool{}
	for name, doc := range losses {
		functions[strings.ToLower(name)] = true
		if !strings.HasPrefix(doc, name+" returns the loss") {
			t.Errorf("%s: the comment begins with %.40q: want %q", name, doc, name+" returns the loss …")
		}
		if !source.MatchString(doc) && name != "Reward" && name != "DisparityBy" && name != "GumbelApproxNDCG" {
			t.Errorf("%s: the comment has no source", name)
		}
		if !strings.Contains(string(list), "["+name+"]") {
			t.Errorf("%s is missing in the list of losses of the package comment, doc.go", name)
		}
	}
	if len(losses) < 20 {
		t.Errorf("%d functions return losses: they are not found", len(losses))
	}
	sampled, err := os.ReadFile("expected.go") // names those by estimators, too
	if err != nil {
		t.Fatal(err)
	}
	for name := range table {
		if _, _, by := strings.Cut(name, "("); by || functions[strings.ReplaceAll(name, "-", "")] {
			continue
		}
		estimator := strings.EqualFold(name, "placement-policy-gradient") || name == "stochasticrank"
		if named := regexp.MustCompile(`[ (]` + name + `[,;:. )\n]`); !estimator && !named.MatchString(string(list)+string(sampled)) {
			t.Errorf("%s is missing in the list of losses of the package comment, doc.go, by this name", name)
		}
	}
}
