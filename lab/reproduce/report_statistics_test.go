package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/viz"
)

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance || math.IsNaN(a) && math.IsNaN(b)
}

func TestBracketedShort(t *testing.T) {
	for want, values := range map[string][]float64{
		"0.13200 (0.00014)": {0.1319, 0.1321},
		"2.50 (0.71)":       {2, 3},
		"1050 (71)":         {1000, 1100},
		"0.133":             {0.13349},
		"7":                 {7, 7},
	} {
		if got := bracketedShort(values); got != want {
			t.Errorf("%v: %q, want %q", values, got, want)
		}
	}
}

func TestInterpolate(t *testing.T) {
	x, y := []float64{1, 2, 4}, []float64{10, 20, 0}
	for at, want := range map[float64]float64{0.9: math.NaN(), 1: 10, 1.5: 15, 2: 20, 3: 10, 3.5: 5, 4: 0, 9: 0} {
		if got := interpolate(x, y, at); !near(got, want, 1e-12) {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
	if got := interpolate(nil, nil, 1); !math.IsNaN(got) {
		t.Errorf("%v without points", got)
	}
}

// A curve has a value where all runs have one.
func TestTimeCurve(t *testing.T) {
	rows := newTable("run", "seconds", mainMeasure)
	rows.add(1, 1.0, 2.0)
	rows.add(1, 2.0, 4.0)
	rows.add(2, 2.0, 6.0)
	rows.add(2, 3.0, 8.0)
	c, err := timeCurve(rows, mainMeasure, []float64{0.5, 1.5, 2, 2.5})
	if err != nil {
		t.Fatal(err)
	}
	band := c.band(methodOf("plrank2"))
	for i, want := range []float64{math.NaN(), math.NaN(), 5, 5.5} { // (4+6)/2, (4+7)/2
		if !near(band.Y[i], want, 1e-12) {
			t.Errorf("point %d: %v, want %v", i, band.Y[i], want)
		}
	}
	if sd := math.Sqrt2; !near(band.High[2]-band.Y[2], sd, 1e-12) || !near(band.Y[2]-band.Low[2], sd, 1e-12) {
		t.Errorf("band from %v to %v around %v", band.Low[2], band.High[2], band.Y[2])
	}
}

// Runs are paired, so PL-Rank-RB differs from PL-Rank-2 by 1, 2 and 3.
func TestAllPairsAreComparedOnce(t *testing.T) {
	rows := newTable("loss", "samples", "run", "epoch", mainMeasure)
	for loss, values := range map[string][]float64{"plrank2": {1, 2, 3}, "plrank-rb": {2, 4, 6}, "plrank1": {5, 5, 5}} {
		for run, v := range values {
			rows.add(loss, 10, run+1, 1, v)
		}
	}
	slices.SortFunc(rows.rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	table, err := samplesAllPairs(rows, "10")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"−1.000", "+2.000"} {
		if got := fmt.Sprint(table.Rows[0][1+i]); !strings.HasPrefix(got, want) {
			t.Errorf("PL-Rank-RB: column %d: %s, want %s", i, got, want)
		}
	}
	if got := fmt.Sprint(table.Rows[1][2]); len(table.Rows) != 2 || !strings.HasPrefix(got, "+3.000") || fmt.Sprint(table.Rows[1][1]) != "–" {
		t.Errorf("%v", table.Rows)
	}
}

// 3 s for 2 of 100 queries of a collection of which they are a quarter: 600 s.
func TestEpochsOfTheWholeCollection(t *testing.T) {
	rows := newTable("loss", "samples", "run", "seconds", "queries", "documents", "trainQueries", "trainDocuments", "scale")
	add := func(loss string, queries int, seconds ...float64) {
		for run, s := range seconds {
			rows.add(loss, 1000, run+1, s, queries, 10, 100, 500, 0.25)
		}
	}
	tables := func() []viz.Table {
		dir := t.TempDir()
		if err := rows.write(dir + "/" + epochsFile); err != nil {
			t.Fatal(err)
		}
		list, err := epochsTables(dir)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	add("lambdaloss", 2, 3, 5)
	alone := tables()
	if got := alone[0].Rows[0]; !slices.Equal(got, []any{"LambdaLoss", "800 (283)"}) { // sd of 600 and 1000: 200·√2
		t.Errorf("whole collection: %v", got)
	}
	if got := alone[1].Rows[0]; !slices.Equal(got, []any{"LambdaLoss", "1000", "2", "100", "10", "500", 2, "4.0 (1.4)"}) {
		t.Errorf("measured: %v", got)
	}
	add(reference, 4, 2)
	if rows := tables()[0].Rows; rows[0][1] != "800 (283) ×4" || rows[1][1] != "200" {
		t.Errorf("compared with PL-Rank-2, of one run: %v", rows)
	}
	rows.rows = rows.rows[:2]
	add(reference, 4, 2, 2.1)
	add("plrank-rb", 4, 9, 9)
	// t of 900 − 200 and 900 − 210 is 139 with one degree of freedom, p = .0046.
	if tested := tables()[0].Rows; tested[0][1] != "800 (283) ×3.9" || tested[2][1] != "900 ×4.39*" {
		t.Errorf("tested: %v", tested)
	}
}

// One query is drawn of every stratum of lengths, each with the same probability: the
// mean over seeds of the drawn lengths equals the mean of all.
func TestStratified(t *testing.T) {
	d := &datasets.Dataset{Offsets: []int{0}}
	var all []int
	sum := 0.0
	for q := range 23 {
		length := q*q%17 + 1
		d.Offsets = append(d.Offsets, d.Offsets[q]+length)
		all = append(all, q)
		sum += float64(length)
	}
	if got := stratified(d, all, len(all), 1); !slices.Equal(got, all) {
		t.Errorf("all of them: %v", got)
	}
	mean := 0.0
	const seeds = 20000
	for seed := range seeds {
		drawn := stratified(d, all, 4, uint64(seed))
		for _, q := range drawn {
			mean += float64(length(d, q)) / float64(len(drawn)) / seeds
		}
	}
	// Standard deviation 5 of lengths over √(4·20000): 0.02.
	if want := sum / float64(len(all)); math.Abs(mean-want) > 0.1 {
		t.Errorf("mean length %v of those drawn, %v of all", mean, want)
	}
}

func TestChoose(t *testing.T) {
	costs := []cost{{"plrank2", 1, 1}, {"plrank2", 10, 1}, {"lambdaloss", 1, 2}, {"lambdaloss", 1000, 100}}
	for _, c := range []struct {
		budget               float64
		workers              int
		runs, epochs, droped int
	}{
		{1e9, 1, 20, 40, 0},
		{104 * 40 * 7, 1, 7, 40, 0},       // seven runs of all
		{104 * 40 * 7, 2, 14, 40, 0},      // twice as many side by side
		{4 * 40 * 2, 1, 2, 40, 1},         // all but the expensive one
		{4 * 40 * 6.5, 1, 6, 40, 1},       //
		{4 * 12 * 2, 1, 2, 12, 1},         // fewer epochs
		{2 * leastEpochs * 2, 1, 2, 5, 2}, // the next expensive one goes, too
		{0, 1, 2, 5, 3},                   // one always stays
	} {
		got := choose(c.budget, costs, 20, 40, c.workers)
		if got.Runs != c.runs || got.Epochs != c.epochs || len(got.Without) != c.droped {
			t.Errorf("budget %v, %d workers: %+v, want %d runs, %d epochs, %d left out", c.budget, c.workers, got, c.runs, c.epochs, c.droped)
		}
	}
	if got := choose(4*40*2, costs, 20, 40, 1).reasons(20, 40, 320); !slices.Equal(got, []string{
		"LambdaLoss with N = 1000, of which an epoch takes 100 s", "runs from 3 to 20: the budget is 320 s",
	}) {
		t.Errorf("reasons %q", got)
	}
	if got := (cost{fair("lambdaloss"), dynamicAs, 3}).label(); got != "LambdaLoss" {
		t.Errorf("label %q where the number of samples grows", got)
	}
}

// What is chosen fits the budget, unless it is the least there is.
func TestChooseFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var costs []cost
		for i := range rapid.IntRange(1, 12).Draw(t, "trials") {
			costs = append(costs, cost{"plrank2", i, rapid.Float64Range(1e-3, 1e3).Draw(t, "seconds")})
		}
		budget, runs := rapid.Float64Range(0, 1e5).Draw(t, "budget"), rapid.IntRange(1, 20).Draw(t, "runs")
		epochs, workers := rapid.IntRange(1, 60).Draw(t, "epochs"), rapid.IntRange(1, 8).Draw(t, "workers")
		c := choose(budget, costs, runs, epochs, workers)
		if c.Runs < 1 || c.Runs > runs || c.Epochs < 1 || c.Epochs > epochs || len(c.Without) >= len(costs) {
			t.Fatalf("%+v", c)
		}
		if c.Seconds > budget*(1+1e-9) && (len(c.Without) < len(costs)-1 || c.Runs > leastRuns || c.Epochs > leastEpochs) {
			t.Fatalf("%+v takes more than %v", c, budget)
		}
	})
}

// By hand: differences 1, 2, 3 have the mean 2 and t = 2/(1/√3) = 3.46 with 2 degrees of freedom, whose
// distribution function is ½ + t/(2·√(2 + t²)): p = 1 − t/√(2 + t²) = 0.0742. Differences
// −9, −10, −11 have t = −17.3, p = 0.00332. Holm doubles the smaller one, and leaves the other.
func TestPairsAreTestedAndCorrected(t *testing.T) {
	than := []float64{10, 20, 30}
	p := pairs{columns: []string{"N = 1", "N = 2"}, rows: []string{"a", "b"}}
	p.add(0, 0, []float64{11, 22, 33}, than)
	p.add(0, 1, []float64{11, 22}, than)   // a run is missing
	p.add(0, 1, []float64{1, 2}, than[:2]) // of both: the title has one number of runs
	p.add(1, 1, []float64{1, 10, 19}, than)
	table, err := p.table("DCG@5", 1)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.Title, "mean of 3 runs") {
		t.Errorf("title %q", table.Title)
	}
	for i, want := range [][]any{
		{"a", "+2.0 (0.074) −", "–"},
		{"b", "–", "−10.0 (0.0066) ▽"},
	} {
		if !slices.Equal(table.Rows[i], want) {
			t.Errorf("row %d: %q, want %q", i, table.Rows[i], want)
		}
	}
	for difference, want := range map[float64]string{-1: worse, 1: better} {
		if got := pairMark(difference, 0.049); got != want {
			t.Errorf("%v: %s, want %s", difference, got, want)
		}
	}
	if table, err := new(pairs).table("DCG@5", 1); table != nil || err != nil {
		t.Errorf("nothing to test: %v, %v", table, err)
	}
}

func TestRates(t *testing.T) {
	_, o, err := parse([]string{"samples", "-losses", "lambdaloss,lambdaloss:0.001,plrank-exact:0.1", "-lr", "0.02"})
	if err != nil {
		t.Fatal(err)
	}
	for loss, want := range map[string]float64{"lambdaloss": 0.02, "lambdaloss:0.001": 0.001, "plrank-exact:0.1": 0.1} {
		name, _ := rated(loss)
		if c := o.config(loss, 1, 0); c.LearningRate != want || c.Loss != name {
			t.Errorf("%s: %s at %v", loss, c.Loss, c.LearningRate)
		}
		if c := o.fairConfig(fair(loss), 0); c.LearningRate != want || methodOfFair(fair(loss)).loss != loss {
			t.Errorf("%s, fair: %s at %v, of %s", loss, c.Loss, c.LearningRate, methodOfFair(fair(loss)).loss)
		}
	}
	if got := methodOf("lambdaloss:0.001").label; got != "LambdaLoss, rate 0.001" {
		t.Error(got)
	}
	list := []method{methodOf("plrank2"), methodOf("plrank2:0.1"), methodOf("plrank-rb"), methodOf("plrank2:0.2")}
	recolor(list)
	for i, want := range []int{1, 3, 2, 4} {
		if list[i].color != want {
			t.Errorf("%s has colour %d, want %d", list[i].label, list[i].color, want)
		}
	}
	for _, loss := range []string{"lambdaloss:", "lambdaloss:-1", "lambdaloss:x", "lambdaloss:Inf", "magic:0.1"} {
		for _, subcommand := range []string{"samples", "fairness"} {
			if _, _, err := parse([]string{subcommand, "-losses", loss}); err == nil {
				t.Errorf("%s -losses %s is taken", subcommand, loss)
			}
		}
	}
}

// What is done at another rate is another trial, and its validation values show which rate is too
// high.
func TestSamplesAtRates(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	stdout := must(t, "samples", "-data", folder(t), "-out", out, "-losses", "plrank2,plrank2:0.1,plrank-exact,plrank-exact:0.1", "-samples", "2", "-runs", "2", "-epochs", "2")
	for _, want := range []string{"PL-Rank-2, rate 0.1", "PL-Rank, exact, rate 0.1", "on validation data", "minus PL-Rank-2's, mean of 2 runs"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	table, err := readTable(filepath.Join(out, samplesFile), validation)
	if err != nil {
		t.Fatal(err)
	}
	a, b := table.where("loss", "plrank2").texts(mainMeasure), table.where("loss", "plrank2:0.1").texts(mainMeasure)
	if len(a) != 4 || len(b) != 4 || slices.Equal(a, b) {
		t.Errorf("%v and %v", a, b)
	}
	if got := table.where("loss", "plrank-exact:0.1").distinct("samples"); !slices.Equal(got, []string{unlimited}) {
		t.Error(got)
	}
}
