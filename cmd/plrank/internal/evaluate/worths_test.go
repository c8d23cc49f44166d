package evaluate

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	fitcmd "github.com/plrank/plrank/cmd/plrank/internal/fit"
)

// In three of four races A beats B: of two more wins and a loss, the mean log-likelihood is (2 log ¾ + log ¼)/3.
func TestWorthsAreMeasuredOnRankings(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		commandtest.Write(t, path, text)
		return path
	}
	worths := filepath.Join(dir, "worths.csv")
	commandtest.Command(fitcmd.Run).Must(t, file("races.txt", "3: A > B\nB > A\n"), "-out", worths)
	test := file("test.txt", "2: A > B\nB > A\n")
	stdout, stderr := must(t, "-worths", worths, "-data", test)
	want := fmt.Sprintf("  observed         2       3         %.4f       -0.6931       0.3333\n", (2*math.Log(.75)+math.Log(.25))/3)
	if !strings.HasSuffix(stdout, want) || stderr != "" {
		t.Errorf("no %q in\n%s%s", want, stdout, stderr)
	}
	table, err := os.ReadFile(worths)
	if err != nil {
		t.Fatal(err)
	}
	if marked, _ := must(t, "-worths", file("marked.csv", "\ufeff"+string(table)), "-data", test); marked != stdout {
		t.Errorf("with a byte order mark:\n%s", marked)
	}
	if stdout, _ := must(t, "-worths", worths, "-data", test, "-json", "-threads", "1"); !strings.Contains(stdout, `"rankings": 2,`) {
		t.Error(stdout)
	}
	if _, stderr := must(t, "-worths", worths, "-data", file("votes.soi", "# NUMBER VOTERS: 9\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n2: 1,2\n1: 2\n")); strings.Count(stderr, "warning: ") != 2 || !strings.Contains(stderr, "the file looks cut") || !strings.Contains(stderr, "1 rankings of one item") {
		t.Error(stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-worths", worths}, "-worths needs -data"},
		{[]string{"-worths", worths, "-data", test, "-model", "m.npz"}, "-model has no effect with -worths"},
		{[]string{"-worths", worths, "-data", test, "-report", "nosuch"}, "-report has no effect with -worths"},
		{[]string{"-worths", worths, "-data", test, "-gain", "linear"}, "-gain has no effect with -worths"},
		{[]string{"-worths", worths, "-data", test, "-plot", "x.svg"}, "-plot has no effect with -worths"},
		{[]string{"-worths", file("bad.csv", "item,log_worth\nA,much\n"), "-data", test}, `bad.csv:2: log_worth "much" of item "A"`},
		{[]string{"-worths", file("other.csv", "name,worth\nA,1\n"), "-data", test}, `other.csv:1: the header is ["name" "worth"]`},
		{[]string{"-worths", file("empty.csv", ""), "-data", test}, "empty.csv:1: the header is []"},
		{[]string{"-worths", worths, "-data", file("new.txt", "A > B\nA > C\n")}, `new.txt:2: item "C" is unknown`},
		{[]string{"-worths", worths, "-data", file("tie.txt", "A = B\n")}, "use plrank fit -ties -test"},
		{[]string{"-worths", file("nan.csv", "item,log_worth\nA,NaN\nB,1\n"), "-data", test}, `nan.csv:2: log_worth "NaN"`},
		{[]string{"-worths", file("none.csv", "item,log_worth\n"), "-data", test}, "none.csv has no items"},
	} {
		if status, stdout, stderr := call(c.args...); status == 0 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d, %s, want %q", c.args, status, stderr, c.want)
		}
	}
}
