package fit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

var (
	call = commandtest.Command(Run).Call
	must = commandtest.Command(Run).Must
)

func TestMain(m *testing.M) { commandtest.Main(m) }

// write makes a file of rankings.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	commandtest.Write(t, path, text)
	return path
}

// In three of four races A beats B: all numbers by hand. The difference of the log-worths is log 3, and its
// variance is 1/(4·¾·¼) = 4/3; half of the difference is a log-worth.
func TestTwoItemsByHand(t *testing.T) {
	file := write(t, "races.txt", "3: A > B\nB > A\n")
	test := write(t, "test.txt", "2: A > B\n")
	stdout, _ := must(t, file, "-test", test, "-json")
	var got result
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-7) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	log := math.Log
	logLikelihood := 3*log(0.75) + log(0.25)
	for i, name := range []string{"A", "B"} {
		at := got.Items[i]
		if at.Item != name || at.Rank != i+1 || at.RankLow != 1 || at.RankHigh != 2 {
			t.Errorf("item %d is %+v", i, at)
		}
		near("worth", at.Worth, 0.75-0.5*float64(i))
		near("log-worth", at.LogWorth, (0.5-float64(i))*log(3))
		near("standard error", float64(at.StdErr), math.Sqrt(1./3))
	}
	near("log-likelihood", got.LogLikelihood, logLikelihood)
	near("AIC", got.AIC, 2-2*logLikelihood)
	near("statistic", got.EqualWorths.Statistic, 2*(logLikelihood-4*log(0.5)))
	near("p", got.EqualWorths.PValue, math.Erfc(math.Sqrt(got.EqualWorths.Statistic/2)))
	for _, c := range []struct {
		got                        *evaluation
		rankings                   int
		weight, logLikelihood, tau float64
	}{{got.Train, 2, 4, logLikelihood / 4, 0.5}, {got.Test, 1, 2, log(0.75), 1}} {
		if c.got.Rankings != c.rankings || c.got.Weight != c.weight {
			t.Errorf("%+v, want %d rankings of weight %v", c.got, c.rankings, c.weight)
		}
		near("mean log-likelihood", c.got.LogLikelihood, c.logLikelihood)
		near("the one of equal worths", c.got.EqualWorths, log(0.5))
		near("τ", float64(c.got.Tau), c.tau)
	}
	stdout, stderr := must(t, "-test", test, file) // flags may come before the file
	for _, want := range []string{"1   1–2     A  0.7500     0.5493      0.5774\n", "χ² 1.05, degrees of freedom 1, p 0.306\n", "-0.2877       -0.6931       1.0000\n"} {
		if !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("no %q in\n%s%s", want, stdout, stderr)
		}
	}
}

// Ties have a parameter with -ties; otherwise fit reports the first.
func TestTiesNeedTheirFlag(t *testing.T) {
	file := write(t, "ties.txt", "A > B > C\nC > B > A\nB > A = C\nA = B = C > D\nD > A = B = C\n")
	if status, stdout, stderr := call(file); status != 1 || stdout != "" || !strings.Contains(stderr, "ties.txt: ranking 3 has a tie, A = C: use -ties") {
		t.Errorf("%d, %s%s", status, stdout, stderr)
	}
	stdout, _ := must(t, file, "-ties")
	for _, want := range []string{"\nties of 2 items: log δ ", "\nties of 3 items: log δ ", "parameters 5,"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	other := write(t, "other.txt", "A > B\nA = B = C > D\n")
	pairs := write(t, "pairs.txt", "A > B = C\nB > A > C\nC > A = B\nA = C > B\nB > C > A > D\nD > C > B > A\n")
	if status, stdout, stderr := call(pairs, "-ties", "-test", other); status != 1 || stdout != "" || !strings.Contains(stderr, "other.txt: ranking 2 has a tie of 3 items, and "+pairs+" has none") { // before the fit
		t.Errorf("%d, %s%s", status, stdout, stderr)
	}
	if _, _, stderr := call(write(t, "plain.txt", "A > B > C > D\nD > C > B > A\n"), "-test", other); !strings.Contains(stderr, "other.txt: ranking 2 has a tie, A = B = …") {
		t.Error(stderr)
	}
}

// Worths without a finite estimate are an error that names the items; a prior is the remedy.
func TestPriorMakesWorthsFinite(t *testing.T) {
	file := write(t, "winner.txt", "Ann > Bob > Cem\nAnn > Cem > Bob\n")
	if status, _, stderr := call(file); status != 1 || !strings.Contains(stderr, `winner.txt: `) || !strings.Contains(stderr, `"Ann"`) || !strings.Contains(stderr, "-prior 0.5") {
		t.Errorf("%d, %s", status, stderr)
	}
	stdout, _ := must(t, "-prior", "0.5", file)
	if !strings.Contains(stdout, "1   1–3   Ann") || strings.Contains(stdout, "likelihood-ratio") {
		t.Error(stdout)
	}
}

// Candidates whom no vote names come last with -unlisted last, and otherwise nothing is known of them.
func TestUnlistedCandidatesComeLast(t *testing.T) {
	file := write(t, "votes.soi", "# ALTERNATIVE NAME 1: Ann\n# ALTERNATIVE NAME 2: Bob\n# ALTERNATIVE NAME 3: Cem\n3: 1\n2: 2\n1: 3\n")
	stdout, _ := must(t, file, "-unlisted", "last")
	for _, want := range []string{"Ann  0.5000", "Bob  0.3333", "Cem  0.1667"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if status, _, stderr := call(file); status != 1 || !strings.Contains(stderr, "votes.soi:4: ") {
		t.Errorf("%d, %s", status, stderr)
	}
}

// The files of a result: the table of all items, and the picture of the first.
func TestResultsGoToNewFiles(t *testing.T) {
	var lines strings.Builder
	for i := range 59 { // item i beats the next one in 11 of 21 races: its worth is larger by a tenth
		fmt.Fprintf(&lines, "11: item%d > item%d\n10: item%[2]d > item%[1]d\n", i, i+1)
	}
	file := write(t, "long.txt", lines.String())
	dir := t.TempDir()
	out, plot := filepath.Join(dir, "worths.csv"), filepath.Join(dir, "worths.svg")
	stdout, stderr := must(t, file, "-out", out, "-plot", plot)
	if !strings.Contains(stdout, "\n10 more items are worth less") || stderr != "" {
		t.Errorf("%s%s", stdout, stderr)
	}
	rows := strings.Split(strings.TrimSpace(commandtest.Read(t, out)), "\n")
	if len(rows) != 61 || rows[0] != "item,worth,log_worth,std_err,rank,rank_low,rank_high" || !strings.HasPrefix(rows[1], "item0,0.091208") || !strings.HasPrefix(rows[60], "item59,0.00032950") {
		t.Errorf("%d rows, such as\n%s\n%s\n%s", len(rows), rows[0], rows[1], rows[len(rows)-1])
	}
	if picture := commandtest.Read(t, plot); !strings.Contains(picture, ">The 50 largest worths of 60<") || !strings.Contains(picture, ">item0<") || !strings.Contains(picture, ">item49<") || strings.Contains(picture, ">item50<") {
		t.Error("the picture does not have the first fifty items")
	}
	for _, flag := range []string{"-out", "-plot"} { // which are not overwritten
		path := map[string]string{"-out": out, "-plot": plot}[flag]
		before := commandtest.Read(t, path)
		if status, stdout, stderr := call(file, flag, path); status != 1 || stdout != "" || !strings.Contains(stderr, path+" exists") || commandtest.Read(t, path) != before {
			t.Errorf("%s: %d, %s%s", flag, status, stdout, stderr)
		}
	}
	_, stderr = must(t, file, "-plot", filepath.Join(dir, "none", "a.svg"))
	if !strings.Contains(stderr, "warning: ") {
		t.Errorf("a picture that fails: %q", stderr)
	}
}

// A fit of more items than a covariance matrix has room for has standard errors, but no intervals of ranks.
func TestManyItemsHaveNoRankIntervals(t *testing.T) {
	var forth, back []string
	for i := range 3002 {
		forth, back = append(forth, fmt.Sprint(i)), append(back, fmt.Sprint(3001-i))
	}
	stdout, stderr := must(t, write(t, "many.txt", strings.Join(forth, ">")+"\n"+strings.Join(back, ">")+"\n"), "-json")
	if !strings.Contains(stderr, "ranks have no intervals") || strings.Contains(stdout, "rankLow") || strings.Contains(stdout, "null") {
		t.Errorf("%s\n%s", stderr, stdout[:1000])
	}
}

// endedFit is a context that has ended for a fit, but not for what awaits it.
type endedFit struct{ context.Context }

func (endedFit) Err() error { return context.Canceled }

// A fit that is interrupted writes the best worths so far, without standard errors.
func TestInterruptedFitKeepsTheBest(t *testing.T) {
	file := write(t, "races.txt", "3: A > B\nB > A\n")
	out := filepath.Join(t.TempDir(), "worths.csv")
	var stdout, stderr strings.Builder
	status := page.DoUntil(endedFit{t.Context()}, new(options), []string{file, "-out", out, "-json"}, nil, &stdout, &stderr)
	if status != 130 || stderr.String() != "fit: interrupted\n" || !strings.Contains(stdout.String(), `"stdErr": null`) {
		t.Errorf("%d, %s%s", status, &stdout, &stderr)
	}
	if rows := strings.Split(commandtest.Read(t, out), "\n"); !strings.HasPrefix(rows[1], "A,") || !strings.HasSuffix(rows[1], ",,1,,") {
		t.Errorf("rows %q", rows)
	}
}

func TestBadCommandLinesAreRefused(t *testing.T) {
	file := write(t, "races.txt", "A > B\nB > A\n")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, 2, "a file of rankings is needed"},
		{[]string{"-ties"}, 2, "a file of rankings is needed"},
		{[]string{file, "more.txt"}, 2, `unexpected argument "more.txt"`},
		{[]string{file, "-pior", "1"}, 2, "did you mean -prior?"},
		{[]string{file, "-prior", "-1"}, 2, "-prior -1: want 0 or a positive, finite number"},
		{[]string{file, "-prior", "NaN"}, 2, "-prior NaN"},
		{[]string{file, "-prior", "Inf"}, 2, "-prior Inf"},
		{[]string{file, "-unlisted", "first"}, 2, "want omit or last"},
		{[]string{file, "-unlisted", "last"}, 2, "does not list all items"},
		{[]string{file, "-out", "-"}, 2, "want the name of a new file"},
		{[]string{file, "-out", "a.svg", "-plot", "./a.svg"}, 2, "two results are to go to a.svg: name a file for each"},
		{[]string{file, "-plot", "a.gif"}, 2, ".svg, .png or .pdf"},
		{[]string{file, "-threads", "-1"}, 2, "-threads -1"},
		{[]string{filepath.Join(t.TempDir(), "none.txt")}, 1, "none.txt: no such file"},
		{[]string{write(t, "empty.txt", "")}, 1, "empty.txt has no rankings"},
		{[]string{write(t, "twice.txt", "A > B\nA > B > A\n")}, 1, "twice.txt:2: "},
		{[]string{file, "-test", write(t, "unknown.txt", "A > B\nA > C\n")}, 1, "unknown.txt:2: "},
	} {
		if status, stdout, stderr := call(c.args...); status != c.status || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d, %s, want %q", c.args, status, stderr, c.want)
		}
	}
	if _, err := os.Stat("-"); err == nil {
		t.Error("a file called -")
	}
}

// Names that -json would change are refused; all others are printed as they are.
func TestNamesStayAsTheyAreInJSON(t *testing.T) {
	var stdout, stderr strings.Builder
	file := write(t, "races.txt", "caf\xe9 > caf\xe8\ncaf\xe8 > caf\xe9\n")
	if status := page.DoUntil(t.Context(), new(options), []string{file, "-json"}, nil, &stdout, &stderr); status == 0 || stdout.Len() > 0 || !strings.Contains(stderr.String(), `races.txt:1: item "caf\xe9": want text in UTF-8`) {
		t.Errorf("%d, %s%s", status, &stdout, &stderr)
	}
	names := []string{"\u2028", "\x00", "\ufeff", "a\"\\\t<&>", "😀", "\ufffd"}
	var ring []string
	for i := range names {
		ring = append(ring, strconv.Quote(names[i])+" > "+strconv.Quote(names[(i+1)%len(names)]))
	}
	text, _ := must(t, write(t, "ring.txt", strings.Join(ring, "\n")), "-json")
	var got result
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(got.Items, func(i item) bool { return i.Item == name }) {
			t.Errorf("%q is not in %s", name, text)
		}
	}
}

// Public files of elections have votes for one candidate alone, and may be cut.
func TestWarningsOfFilesAreSaid(t *testing.T) {
	const header = "# NUMBER ALTERNATIVES: 2\n# NUMBER VOTERS: 9\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n"
	stdout, stderr := must(t, write(t, "votes.soi", header+"3: 1,2\n2: 1\n1: 2,1\n"), "-test", write(t, "test.txt", "A > B\nB\n"), "-json")
	for _, want := range []string{
		"votes.soi: the header says 9 voters, but the file has 6: the file looks cut\n",
		"votes.soi: 1 rankings of one item, observed 2 times, are left out",
		"test.txt: 1 rankings of one item, observed 1 times, are left out",
	} {
		if strings.Count(stderr, want) != 1 {
			t.Errorf("%s, want once %s", stderr, want)
		}
	}
	var got result
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || got.Train.Weight != 4 || got.Test.Weight != 1 {
		t.Errorf("%s, %v", stdout, err)
	}
}
