package train

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/network"
)

// The average follows its formula over the weights after every step; it is what is
// evaluated, kept and saved, while training goes on with the weights themselves.
func TestAverage(t *testing.T) {
	t.Parallel()
	s := small()
	plain := busy("sgd")
	plain.Epochs = 2
	averaged := plain
	averaged.Average = 0.4

	var steps [][]float32
	follow := func(c Config) *Trainer {
		tr := mustNew(t, c, s)
		steps = nil
		mustRun(t, tr, Hooks{Step: func(Step) { steps = append(steps, slices.Clone(networkOf(tr).Weights)) }})
		return tr
	}
	without := follow(plain)
	with := follow(averaged)
	if !slices.Equal(networkOf(with).Weights, networkOf(without).Weights) {
		t.Error("training goes on from other weights")
	}
	if len(steps) < 12 {
		t.Fatalf("%d steps, too few for the moving average", len(steps))
	}
	sum, left := make([]float64, len(networkOf(with).Weights)), 1.0 // part of the average that the steps before have
	for n := len(steps); n > 0; n-- {
		share := 0.6
		if n <= 7 { // 9/(n+8) is as much
			share = 9 / float64(n+8)
		}
		for j, v := range steps[n-1] {
			sum[j] += left * share * float64(v)
		}
		left *= 1 - share
	}
	average := trainedWeights(current(t, with))
	for j, v := range sum {
		if math.Abs(float64(average[j])-v) > 1e-6 {
			t.Errorf("weight %d: %v, want %v", j, average[j], v)
		}
	}
	if slices.Equal(average, networkOf(with).Weights) {
		t.Error("the average is the weights")
	}
	values, err := with.parsed.evaluator.values(networkOf(with), s.Vali)
	if last := with.history.epochs[1]; err != nil || values["ndcg@5"] != last.Vali["ndcg@5"] {
		t.Errorf("the validation value is %v, of the average %v (%v)", last.Vali, values, err)
	}
	if with.history.best() == 1 && !slices.Equal(bestOf(with), average) {
		t.Error("another model is kept than the one that is evaluated")
	}
	if reflect.DeepEqual(with.history.epochs[0].Vali, without.history.epochs[0].Vali) && reflect.DeepEqual(with.history.epochs[1].Vali, without.history.epochs[1].Vali) {
		t.Error("the validation values do not depend on the average")
	}
}

// A run with an average goes on from a checkpoint as if it had not stopped.
func TestAverageResume(t *testing.T) {
	t.Parallel()
	s := small()
	c := busy("adamw")
	c.Average = 0.9
	whole := mustRun(t, mustNew(t, c, s), Hooks{})
	resumes(t, whole, c, 2, func(c Config) *Trainer { return mustNew(t, c, s) })
}

// Before the first step the average is the initial model.
func TestAverageBegins(t *testing.T) {
	c := busy("sgd")
	c.Average = 0.99
	tr := mustNew(t, c, small())
	if !slices.Equal(trainedWeights(current(t, tr)), networkOf(tr).Weights) {
		t.Error("the average does not begin with the initial weights")
	}
}

// The decay of adamw leaves biases alone, and is not part of the gradient: without a
// gradient weights shrink by 1 − η·decay.
func TestAdamWDecay(t *testing.T) {
	arrays := []nn.Array{{Name: "w", Shape: []int{1, 2}}, {Name: "b", Shape: []int{2}, Bias: true}, {Name: "v", Shape: []int{1}}}
	o := network.Optimizers["adamw"](0, 0.5, arrays)
	w := []float32{1, -2, 3, 4, 5}
	o.Step(w, make([]float32, 5), 0.1, 1)
	for i, want := range []float64{0.95, -1.9, 3, 4, 4.75} {
		if math.Abs(float64(w[i])-want) > 1e-6 {
			t.Errorf("weight %d is %v, want %v", i, w[i], want)
		}
	}
}
