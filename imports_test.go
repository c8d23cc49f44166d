package plrank_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/plrank/plrank/"

// Imports run one way: cmd → train → {losses, nn} → ops → plackett, and packages that know no
// graph do not depend on Gorgonia. Each line lists the packages of this module that a package
// may depend on, directly or not, besides the tools in internal.
func TestImportsRunOneWay(t *testing.T) {
	numbers := []string{"plackett"}
	forward := append([]string{"internal/forward"}, numbers...)
	data := append([]string{"datasets", "metrics"}, numbers...)
	ranker := append([]string{"ranker", "datasets"}, forward...)
	graphs := append([]string{"ops", "internal/op"}, forward...)
	training := append([]string{"train", "losses", "nn", "ops", "internal/op", "metrics"}, ranker...)
	for _, c := range []struct {
		pkg      string
		may      []string
		gorgonia bool
	}{
		{"plackett", nil, false},
		{"internal/forward", nil, false},
		{"internal/model", forward, false},
		{"metrics", numbers, false},
		{"datasets", nil, false},
		{"ranker", ranker, false},
		{"serve", append([]string{"clicks", "metrics"}, ranker...), false},
		{"clicks", data, false},
		{"ops", graphs, true},
		{"nn", append([]string{"nn"}, graphs...), true},
		{"losses", append([]string{"losses"}, graphs...), true},
		{"train", training, true},
		{"viz", nil, false},
		{"worth", []string{"datasets"}, false},
	} {
		t.Run(c.pkg, func(t *testing.T) {
			out, err := exec.Command("go", "list", "-deps", "./"+c.pkg).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, dep := range strings.Fields(string(out)) {
				if strings.HasPrefix(dep, "gorgonia.org/") && !c.gorgonia {
					t.Errorf("%s depends on %s", c.pkg, dep)
				}
				// An internal package belongs to the folder above internal.
				of, _, _ := strings.Cut(strings.TrimPrefix(dep, module), "/internal/")
				tool := strings.HasPrefix(of, "internal/") && of != "internal/forward" && of != "internal/op"
				if strings.HasPrefix(dep, module) && of != c.pkg && !tool && !slices.Contains(c.may, of) {
					t.Errorf("%s depends on %s", c.pkg, of)
				}
			}
		})
	}
}
