package clicks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// Over many users, the clicks at each rank come as often as the click model says, which is
// computed here by what must have happened at the ranks above.
func TestBehavioursHaveTheirProbabilities(t *testing.T) {
	attraction := []float64{.5, .2, .9, .4}
	const n = 40000
	for _, c := range []struct {
		name      string
		behaviour Behaviour
		want      []float64
		most      int // clicks of a user
	}{
		{"cascade", Cascade(), cascadeClicks(attraction), 1},
		{"position-based", PositionBased([]float64{1, .5, .25}), []float64{.5, .1, .225, 0}, 3},
	} {
		random := rand.New(rand.NewPCG(1, 2))
		mean, clicks := make([]float64, 4), []float64{9, 9, 9, 9}
		for range n {
			c.behaviour(attraction, clicks, random.Float64)
			sum := 0.0
			for k, x := range clicks {
				mean[k] += x / n
				sum += x
			}
			if int(sum) > c.most {
				t.Fatalf("%s: clicks %v, want %d at most", c.name, clicks, c.most)
			}
		}
		for k, p := range c.want {
			if math.Abs(mean[k]-p) > 4*math.Sqrt(p*(1-p)/n) {
				t.Errorf("%s: clicks %v, want %v", c.name, mean, c.want)
			}
		}
	}
}

// More impressions than memory holds are an error, and a cutoff beyond all queries is none.
func TestSimulationsOfAnySizeDoNotPanic(t *testing.T) {
	for _, n := range []int{MostSimulated + 1, math.MaxInt} {
		if _, err := Simulate(fifty(3), Logger{}, User{}, n, 1); err == nil || !strings.Contains(err.Error(), "want 16777216 at most") {
			t.Errorf("error %v for %d impressions", err, n)
		}
	}
	all, err := Simulate(fifty(3), Logger{Cutoff: 3}, User{}, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	far, err := Simulate(fifty(3), Logger{Cutoff: math.MaxInt}, User{}, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range far.Impressions {
		far.Impressions[i].Cutoff = 3
	}
	if !reflect.DeepEqual(far, all) {
		t.Error("a cutoff beyond all queries changes clicks")
	}
}

// A document is one candidate: a query that has its id twice is named.
func TestDocumentsOfOneIDAreNotSimulated(t *testing.T) {
	d := fifty(3)
	d.DocumentIDs = make([]string, d.Rows())
	for r := range d.DocumentIDs {
		d.DocumentIDs[r] = strconv.Itoa(r)
	}
	d.DocumentIDs[5] = "3"
	want := fmt.Sprintf(`(query %q): document "3" is among the candidates twice`, d.QueryIDs[1])
	if _, err := Simulate(d, Logger{}, User{}, 20, 1); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Every estimator is for gains, for values, or for both, and the function takes the names.
func TestEstimatorsByPurpose(t *testing.T) {
	log := simulated(t, 6, 3, 50)
	b := Bias{Alpha: theta(3)}
	for _, e := range GainEstimators() {
		if _, err := Gains(log, b, e); err != nil {
			t.Error(err)
		}
		_, err := Evaluate(log, Target{Policy: Logged, Bias: b}, e)
		if slices.Contains(ValueEstimators(), e) != (err == nil) {
			t.Errorf("%s: error %v of Evaluate", e, err)
		}
	}
	if n := len(GainEstimators()); n != 4 {
		t.Errorf("%d estimators for gains: %v", n, GainEstimators())
	}
}

// The highest label is clicked whenever it is examined, also where labels are below 1.
func TestHighestLabelIsClickedWheneverItIsExamined(t *testing.T) {
	d := &datasets.Dataset{QueryIDs: []string{"q"}, Offsets: []int{0, 2}, Labels: []float32{0, .5}, FeatureIDs: []int{1}, Features: []float32{1, 2}}
	log, err := Simulate(d, Logger{}, User{}, 50, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range log.Impressions {
		for k, shown := range im.Shown {
			if im.Clicks[k] != float64(shown) {
				t.Errorf("clicks %v on documents %v", im.Clicks, im.Shown)
			}
		}
	}
}
