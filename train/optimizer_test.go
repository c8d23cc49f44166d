package train

import (
	"math"
	"strings"
	"testing"

	"github.com/plrank/plrank/nn"
	"github.com/plrank/plrank/train/internal/batches"
	"github.com/plrank/plrank/train/internal/network"
)

// Three steps of every optimizer against its formula, in float64.
func TestOptimizers(t *testing.T) {
	gradients := [][]float64{{1, -2}, {0.5, 0}, {-3, 1e-3}}
	const rate = 0.1
	for _, name := range Optimizers() {
		o := network.Optimizers[name](0.8, 0.3, []nn.Array{{Name: "w", Shape: []int{2}}})
		w := []float32{1, 1}
		want := []float64{1, 1}
		var velocity, mean, squares [2]float64
		for step, g := range gradients {
			o.Step(w, []float32{float32(g[0]), float32(g[1])}, rate, uint64(step+1))
			for i := range want {
				switch name {
				case "sgd":
					want[i] -= rate * g[i]
				case "momentum":
					velocity[i] = 0.8*velocity[i] + g[i]
					want[i] -= rate * velocity[i]
				case "adam", "adamw":
					if name == "adamw" {
						want[i] -= rate * 0.3 * want[i]
					}
					mean[i] = 0.9*mean[i] + 0.1*g[i]
					squares[i] = 0.999*squares[i] + 0.001*g[i]*g[i]
					n := float64(step + 1)
					want[i] -= rate * mean[i] / (1 - math.Pow(0.9, n)) / (math.Sqrt(squares[i]/(1-math.Pow(0.999, n))) + 1e-8)
				}
				if math.Abs(float64(w[i])-want[i]) > 1e-5 {
					t.Errorf("%s, step %d: weight %d is %v, want %v", name, step+1, i, w[i], want[i])
				}
			}
		}
	}
	if err := (Config{Optimization: Optimization{Optimizer: "x"}}).Plain().Check(); err == nil || !strings.Contains(err.Error(), "sgd, momentum, adam, adamw") {
		t.Errorf("an unknown optimizer: %v", err)
	}
}

// What an optimizer remembers of a weight whose gradient has become 0 fades away, to 0: not
// to numbers below the smallest normal one.
func TestOptimizersForget(t *testing.T) {
	for _, name := range []string{"momentum", "adam", "adamw"} {
		o := network.Optimizers[name](0.9, 0, []nn.Array{{Name: "w", Shape: []int{1}}})
		w, g := []float32{1}, []float32{1e-17}
		for n := range 3000 {
			o.Step(w, g, 0.1, uint64(n+1))
			g[0] = 0
			for what, state := range o.State() {
				if v := state[0]; v != 0 && math.Abs(float64(v)) < 0x1p-126 {
					t.Fatalf("%s: %s is %v after %d steps", name, what, v, n+1)
				}
			}
		}
	}
}

func TestClip(t *testing.T) {
	g := []float32{3, 4}
	if err := batches.Clip(g, 0); err != nil || g[0] != 3 {
		t.Errorf("%v, %v", err, g)
	}
	if err := batches.Clip(g, 10); err != nil || g[1] != 4 {
		t.Errorf("%v, %v", err, g)
	}
	if err := batches.Clip(g, 1); err != nil || math.Abs(float64(g[0])-0.6) > 1e-6 || math.Abs(float64(g[1])-0.8) > 1e-6 {
		t.Errorf("%v, %v", err, g)
	}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
		if err := batches.Clip([]float32{1, bad}, 1); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// The penalty is on weights, not on biases.
func TestL2(t *testing.T) {
	tr := mustNew(t, Config{Optimization: Optimization{L2: 0.5}, Model: Model{Hidden: []int{2}}}, tinySplits())
	for i := range networkOf(tr).Weights {
		networkOf(tr).Weights[i] = 2
		gradientOf(tr)[i] = 1
	}
	if err := (&l2{rate: float32(tr.Config.L2), arrays: arraysOf(tr)}).Gradient(&Step{Weights: networkOf(tr).Weights, Gradient: gradientOf(tr)}); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, a := range networkOf(tr).Model.Weights().Arrays() {
		want := float32(2)
		if a.Bias {
			want = 1
		}
		for range a.Size() {
			if gradientOf(tr)[at] != want {
				t.Errorf("%s: gradient %v, want %v", a.Name, gradientOf(tr)[at], want)
			}
			at++
		}
	}
}
