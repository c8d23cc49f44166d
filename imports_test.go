package plrank_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/plrank/plrank/"

// Imports run one way: cmd → train → {losses, nn} → ops → plackett, and a package that
// knows no graph stays free of Gorgonia. Each line lists all packages of this module that
// a package may depend on, directly or not.
func TestImportsRunOneWay(t *testing.T) {
	own := []string{"internal/names", "internal/parallel", "internal/atomicfile", "internal/npzfile", "internal/blas", "internal/openblas", "internal/version"}
	numbers := append([]string{"plackett"}, own...)
	forward := append([]string{"internal/forward"}, numbers...)
	data := append([]string{"datasets", "metrics"}, numbers...)
	ranker := append([]string{"ranker", "internal/forward"}, data...)
	graphs := append([]string{"ops", "metrics", "internal/op"}, forward...)
	training := append([]string{"train", "losses", "nn", "ops", "internal/op"}, ranker...)
	for _, c := range []struct {
		pkg      string
		may      []string
		gorgonia bool
	}{
		{"plackett", own, false},
		{"internal/forward", own, false},
		{"metrics", numbers, false},
		{"datasets", data, false},
		{"ranker", ranker, false},
		{"ops", graphs, true},
		{"nn", append([]string{"nn"}, graphs...), true},
		{"losses", append([]string{"losses"}, graphs...), true},
		{"train", training, true},
		{"viz", own, false},
	} {
		t.Run(c.pkg, func(t *testing.T) {
			if _, err := os.Stat(c.pkg); err != nil {
				t.Skip("not there yet")
			}
			out, err := exec.Command("go", "list", "-deps", "./"+c.pkg).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, dep := range strings.Fields(string(out)) {
				if strings.HasPrefix(dep, "gorgonia.org/") && !c.gorgonia {
					t.Errorf("%s depends on %s", c.pkg, dep)
				}
				// An internal package of a folder belongs to the folder.
				of, _, _ := strings.Cut(strings.TrimPrefix(dep, module), "/internal/")
				if strings.HasPrefix(dep, module) && of != c.pkg && !slices.Contains(c.may, of) {
					t.Errorf("%s depends on %s", c.pkg, of)
				}
			}
		})
	}
}
