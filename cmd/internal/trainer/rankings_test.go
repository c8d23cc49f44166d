package trainer

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/worth"
)

// A choice is an item out of those that were left.
type choice struct {
	chosen int
	left   []int // with it
	weight float64
}

// races are rankings of items with two features, full ones and choices from a set, as a file and as choices.
func races(rng *rand.Rand, x [][]float64, n int) (text string, choices []choice) {
	truth := []float64{1, -0.5}
	var lines strings.Builder
	for i := range n {
		left := rng.Perm(len(x))[:4]
		weight := float64(1 + i%3)
		var order []string
		for len(left) > 0 {
			at, best := 0, math.Inf(-1)
			for j, item := range left {
				if noisy := floats.Dot(truth, x[item]) - math.Log(rng.ExpFloat64()); noisy > best {
					at, best = j, noisy
				}
			}
			if len(left) > 1 && (i%2 == 0 || len(order) == 0) { // every other ranking is a choice of the best
				choices = append(choices, choice{left[at], append([]int{}, left...), weight})
			}
			order = append(order, fmt.Sprint("i", left[at]))
			left = append(left[:at], left[at+1:]...)
		}
		if i%2 == 0 {
			fmt.Fprintf(&lines, "%v: %s\n", weight, strings.Join(order, " > "))
		} else {
			fmt.Fprintf(&lines, "%v: %s | %s\n", weight, order[0], strings.Join(order[1:], ", "))
		}
	}
	return lines.String(), choices
}

// regress is a Plackett–Luce regression by Newton's method, and its log-likelihood.
func regress(x [][]float64, choices []choice) (b []float64, logLikelihood float64) {
	b = make([]float64, len(x[0]))
	for range 30 {
		gradient, information := mat.NewVecDense(len(b), nil), mat.NewSymDense(len(b), nil)
		logLikelihood = 0
		for _, c := range choices {
			logs := make([]float64, len(c.left))
			for i, item := range c.left {
				logs[i] = floats.Dot(b, x[item])
			}
			log := floats.LogSumExp(logs)
			mean := make([]float64, len(b))
			for i, item := range c.left {
				p := math.Exp(logs[i] - log)
				floats.AddScaled(mean, p, x[item])
				information.SymRankOne(information, c.weight*p, mat.NewVecDense(len(b), x[item]))
			}
			information.SymRankOne(information, -c.weight, mat.NewVecDense(len(b), mean))
			gradient.AddScaledVec(gradient, c.weight, mat.NewVecDense(len(b), floats.SubTo(make([]float64, len(b)), x[c.chosen], mean)))
			logLikelihood += c.weight * (floats.Dot(b, x[c.chosen]) - log)
		}
		var step mat.VecDense
		if err := step.SolveVec(information, gradient); err != nil {
			panic(err)
		}
		floats.Add(b, step.RawVector().Data)
	}
	return b, logLikelihood
}

// The regression gives what pladmm of PlackettLuce for R 0.4.5 prints for the salad dressings of Vargo (vignette PLADMM; it stops at
// a relative change of 1e-4).
func TestRegressionOfSaladDressings(t *testing.T) {
	t.Parallel()
	const salad = "11: B > C > D > A\n6: B > D > C > A\n3: C > B > D > A\n2: B > C > A > D\n2: B > A > D > C\n2: A > B > C > D\n" +
		"D > C > B > A\nD > C > A > B\nC > D > B > A\nC > A > B > D\nB > D > A > C\nB > A > C > D\n"
	r, err := worth.Read(strings.NewReader(salad), "salad", worth.ReadOptions{Items: []string{"A", "B", "C", "D"}})
	if err != nil {
		t.Fatal(err)
	}
	var choices []choice
	for i := range r.Len() {
		ranking := r.At(i)
		order := slices.Concat(ranking.Places...)
		for k := range order[1:] {
			choices = append(choices, choice{order[k], order[k:], ranking.Weight})
		}
	}
	b, logLikelihood := regress([][]float64{{0.5, 0}, {0.5, 10}, {1, 0}, {0, 10}}, choices) // acetic and gluconic acid
	if math.Abs(b[0]-3.27431) > 1e-3 || math.Abs(b[1]-0.27392) > 1e-4 || math.Abs(-2*logLikelihood-152.9) > 0.05 {
		t.Errorf("coefficients %v, log-likelihood %v", b, logLikelihood)
	}
}

// A linear model of observed rankings, full and partial ones, is a Plackett–Luce regression; the loss of rankings held out is
// minus their mean log-likelihood.
func TestLinearModelOfRankingsIsARegression(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	x, table := make([][]float64, 12), "quality,item,price\n"
	for i := range x {
		x[i] = []float64{math.Round(64*rng.NormFloat64()) / 64, math.Round(64*rng.NormFloat64()) / 64}
		table += fmt.Sprintf("%v,i%d,%v\n", x[i][0], i, x[i][1])
	}
	text, choices := races(rng, x, 60)
	dir := t.TempDir()
	data, items, out := filepath.Join(dir, "races.txt"), filepath.Join(dir, "items.csv"), filepath.Join(dir, "run")
	write(t, data, text)
	write(t, items, table)
	stdout, _ := must(t, "-data", data, "-items", items, "-vali", data, "-test", data, "-out", out, "-hidden", "", "-transform", "none", "-optimizer", "sgd",
		"-lr", "0.2", "-decay", "1", "-batch", "60", "-epochs", "60", "-members", "0", "-average", "0", "-group-lasso", "0", "-patience", "0")
	want, logLikelihood := regress(x, choices)
	model, err := ranker.Open(filepath.Join(out, "model.npz"))
	if err != nil {
		t.Fatal(err)
	}
	scores, err := model.Score(nil, []float32{0, 0, 1, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range want {
		if got := scores[i+1] - scores[0]; math.Abs(got-b) > 1e-4 {
			t.Errorf("coefficient %d is %v, want %v", i, got, b)
		}
	}
	var result cli.RunSummary
	if err := json.Unmarshal([]byte(read(t, filepath.Join(out, "result.json"))), &result); err != nil {
		t.Fatal(err)
	}
	if got, want := float64(result.Metrics["test"]["loss"]), -logLikelihood/120; math.Abs(got-want) > 1e-6 {
		t.Errorf("loss %v of weight 120, want %v\n%s", got, want, stdout)
	}
}

func TestRankingsOfItems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	items := file("items.csv", "item,x\na,1\nb,2\nc,NaN\n")
	data := file("races.txt", "a > b > c\nb > a\nc > a\na > c | b\nc\n")
	out := filepath.Join(dir, "run")
	_, stderr := callQuick(t, "-data", data, "-items", items, "-out", out, "-cache", t.TempDir())
	if !strings.Contains(stderr, "-cache has no effect with -items") {
		t.Error(stderr)
	}
	if strings.Count(stderr, "races.txt: 1 rankings of one item, observed 1 times, are left out") != 1 {
		t.Error(stderr)
	}
	if !strings.Contains(stderr, "(1 rankings held out)") && !strings.Contains(stderr, "vali loss") {
		t.Error(stderr)
	}
	if status, _, stderr := call("-resume", "-out", out, "-epochs", "2"); status != 0 {
		t.Error(stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-items", items}, "-items needs -data"},
		{[]string{"-items", items, "-data", "synthetic:mslr"}, "-items needs -data"},
		{[]string{"-items", items, "-data", data, "-folds", "3"}, "-folds has no meaning"},
		{[]string{"-items", items, "-data", data, "-group-column", "g"}, "-group-column has no meaning"},
		{[]string{"-items", items, "-data", file("tie.txt", "a > b\na = b\n")}, "tie.txt: ranking 2 has a tie, a = b"},
		{[]string{"-items", items, "-data", file("other.txt", "a > b\na > d\n")}, `other.txt:2: item "d" is unknown`},
		{[]string{"-items", items, "-data", file("one.txt", "a > b\n")}, "one ranking cannot be split"},
		{[]string{"-items", file("bad.csv", "item,x\na,1\nb,one\n"), "-data", data}, `bad.csv:3: x "one" of item "b"`},
	} {
		if status, _, stderr := call(c.args...); status == 0 || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d, %s, want %q", c.args, status, stderr, c.want)
		}
	}
}
