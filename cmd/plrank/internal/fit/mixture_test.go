package fit

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

// Two groups of voters who agree among themselves: three of five name Ann first, and two Dan.
const voters = "28: Ann > Bob > Cem > Dan\n2: Bob > Ann > Dan > Cem\n18: Dan > Cem > Bob > Ann\n2: Cem > Dan > Ann > Bob\n"

func TestMixtureFindsTheGroups(t *testing.T) {
	file := write(t, "votes.txt", voters)
	test := write(t, "test.txt", "Ann > Bob > Cem > Dan\n")
	out := filepath.Join(t.TempDir(), "groups.csv")
	stdout, stderr := must(t, file, "-mixtures", "2", "-prior", "0.5", "-test", test, "-out", out)
	for _, want := range []string{"\nweight       0.6", "        component 1  component 2\n", "parameters 7,", "fitted to         4      50", "     test         1       1"} {
		if !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("no %q in\n%s%s", want, stdout, stderr)
		}
	}
	rows := strings.Split(strings.TrimSpace(commandtest.Read(t, out)), "\n")
	if len(rows) != 9 || rows[0] != "component,weight,item,worth,log_worth" || !strings.HasPrefix(rows[1], "1,0.5999") || !strings.HasPrefix(rows[8], "2,0.4000") {
		t.Errorf("rows %q", rows)
	}
	stdout, _ = must(t, file, "-mixtures", "2", "-prior", "0.5", "-test", test, "-json")
	var got mixture
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if want := 7*math.Log(50) - 2*got.LogLikelihood; math.Abs(got.BIC-want) > 1e-9 || got.BIC > got.BICOfOne || math.Abs(got.Train.LogLikelihood*50-got.LogLikelihood) > 1e-9 {
		t.Errorf("%+v", got)
	}
	// The test ranking is the first group's favourite: 28 of 50 voters have it, and one of 24 orders of equal worths.
	if p := math.Exp(got.Test.LogLikelihood); math.Abs(p-28./50) > 0.1 || math.Exp(got.Test.OneComponent) > 0.1 {
		t.Errorf("test %+v", got.Test)
	}
}

// With -ties, each component has its parameters of ties.
func TestTiesOfMixturesAreShown(t *testing.T) {
	file := write(t, "ties.txt", "9: A > B > C\n8: C > B > A\n3: B > A = C\n2: A = C > B\n4: A > B = C\n2: B = C > A\n")
	args := []string{file, "-ties", "-mixtures", "2", "-prior", "0.5"}
	stdout, _ := must(t, append(args, "-json")...)
	var got mixture
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	stdout, _ = must(t, args...)
	for k, c := range got.Components {
		if len(c.Ties) != 1 || c.Ties[0].Size != 2 || !strings.Contains(stdout, fmt.Sprintf("\ncomponent %d, ties of 2 items: log δ %.4f\n", k+1, c.Ties[0].LogDelta)) {
			t.Errorf("ties %+v\n%s", c.Ties, stdout)
		}
	}
}

func TestMixtureRefusesFlagsOfOneModel(t *testing.T) {
	file := write(t, "votes.txt", voters)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{file, "-mixtures", "-1"}, 2, "-mixtures -1"},
		{[]string{file, "-seed", "0"}, 2, "-seed has no effect without -mixtures"},
		{[]string{file, "-mixtures", "2", "-plot", "a.svg"}, 2, "-plot is for one model"},
		{[]string{file, "-mixtures", "5", "-prior", "1"}, 1, "there are 4 rankings"},
		{[]string{write(t, "two.txt", "3: a > b > c > d\n2: d > c > b > a\n"), "-mixtures", "2"}, 1, "-prior 0.5 is a weak one"},
	} {
		if status, stdout, stderr := call(c.args...); status != c.status || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d, %s, want %q", c.args, status, stderr, c.want)
		}
	}
	var stdout, stderr strings.Builder
	if status := page.DoUntil(endedFit{t.Context()}, new(options), []string{file, "-mixtures", "2"}, nil, &stdout, &stderr); status != 130 || stderr.String() != "fit: interrupted\n" {
		t.Errorf("%d, %s%s", status, &stdout, &stderr)
	}
}
