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

// races are rankings of items with two features, full ones and choices from a set, as a table and as choices.
func races(rng *rand.Rand, x [][]float64, n int) (table string, choices []choice) {
	truth := []float64{1, -0.5}
	lines := strings.Builder{}
	lines.WriteString("quality,race,item,count,label,price\n")
	for i := range n {
		left := rng.Perm(len(x))[:4]
		weight := float64(1 + i%3)
		places := 1 // the others come after it
		if i%2 == 0 {
			places = 4
		}
		for len(left) > 0 {
			at, best := 0, math.Inf(-1)
			for j, item := range left {
				if noisy := floats.Dot(truth, x[item]) - math.Log(rng.ExpFloat64()); noisy > best {
					at, best = j, noisy
				}
			}
			if len(left) > 1 && places > 0 {
				choices = append(choices, choice{left[at], append([]int{}, left...), weight})
			}
			fmt.Fprintf(&lines, "%v,%d,i%d,%v,%d,%v\n", x[left[at]][0], i, left[at], weight, places, x[left[at]][1])
			places = max(0, places-1)
			left = append(left[:at], left[at+1:]...)
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
// minus their log-likelihood, divided by their number.
func TestLinearModelOfRankingsIsARegression(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([][]float64, 12)
	for i := range x {
		x[i] = []float64{math.Round(64*rng.NormFloat64()) / 64, math.Round(64*rng.NormFloat64()) / 64}
	}
	table, choices := races(rng, x, 60)
	dir := t.TempDir()
	data, out := filepath.Join(dir, "races.csv"), filepath.Join(dir, "run")
	write(t, data, table)
	stdout, _ := must(t, "-data", data, "-vali", data, "-test", data, "-query-column", "race", "-document-column", "item", "-label-column", "label",
		"-weight-column", "count", "-loss", "partial-listmle", "-metric", "loss", "-out", out, "-hidden", "", "-transform", "none",
		"-optimizer", "sgd", "-lr", "0.2", "-decay", "1", "-batch", "60", "-epochs", "60", "-members", "0", "-average", "0", "-group-lasso", "0", "-patience", "0")
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
	if got, want := float64(result.Metrics["test"]["loss"]), -logLikelihood/60; math.Abs(got-want) > 1e-6 {
		t.Errorf("loss %v of 60 rankings, want %v\n%s", got, want, stdout)
	}
}
