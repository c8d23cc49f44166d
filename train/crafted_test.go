package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/npzfile"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
)

// A checkpoint that asks for far more memory than it takes is a damaged one.
func TestCraftedCheckpointAllocatesLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.npz")
	header := map[string]any{"format": checkpointFormat, "version": checkpointVersion, "history": make([]struct{}, 1_000_000)}
	if err := npzfile.Write[float32](path, header, nil); err != nil {
		t.Fatal(err)
	}
	tr := mustNew(t, Config{Optimization: Optimization{Epochs: 1}, Model: Model{Hidden: []int{2}}}, tinySplits())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := tr.Restore(path)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 || !errors.Is(err, ErrDamaged) {
		t.Errorf("%d bytes were allocated for 3 MB, error %v", n, err)
	}
}

// A checkpoint whose lists have other lengths than the run is a damaged one.
func TestCraftedListsAreDamage(t *testing.T) {
	tr := mustNew(t, threeNetworks(mlpScorer), small())
	mustRun(t, tr, Hooks{})
	path := filepath.Join(t.TempDir(), "c.npz")
	c, err := tr.Checkpoint()
	if err == nil {
		err = c.Save(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	var header map[string]json.RawMessage
	f, err := npzfile.Read[float32](path, &header)
	if err != nil {
		t.Fatal(err)
	}
	own := tr.state()
	var arrays []npzfile.Of[float32]
	for _, name := range own.names() {
		values, err := f.Take(name, len(own.Arrays[name]))
		if err != nil {
			t.Fatal(err)
		}
		arrays = append(arrays, npzfile.Of[float32]{Name: name, Shape: []int{len(values)}, Data: values})
	}
	for _, list := range []string{"[]", "[1]", "null", ""} {
		if header["networks"] = json.RawMessage(list); list == "" {
			delete(header, "networks")
		}
		if err := npzfile.Write(path, header, arrays); err != nil {
			t.Fatal(err)
		}
		if err := mustNew(t, threeNetworks(mlpScorer), small()).Restore(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("networks %s: %v", list, err)
		}
	}
}

// A number in the State of a hook, in place of a pointer to one, is refused without a panic.
func TestStatesAreOfPointers(t *testing.T) {
	tr, err := New(Config{Optimization: Optimization{Epochs: 1}}.Plain(), Custom{Hooks: []Hook{byValue{}}}, small())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Checkpoint(); err == nil || !strings.Contains(err.Error(), "hook1-x is a int: want a pointer") {
		t.Error(err)
	}
}

type byValue struct{ NopHook }

func (byValue) State() State { return State{Values: map[string]any{"x": 1}} }

// Errors of ops are short, however many settings an op has.
func TestErrorsOfOpsAreShort(t *testing.T) {
	c := Default()
	c.LearningRate, c.Cutoff, c.Members = 1e30, AllRanks, 1
	tr := mustNew(t, c, small())
	_, err := tr.Run(ctx, Hooks{})
	if err == nil || strings.Contains(err.Error(), "PC ") || !strings.Contains(err.Error(), "ops: ExpectedMetric: query") || len(err.Error()) > 300 {
		t.Error(err)
	}
}

// A forest divides by curvatures: negative ones would turn its trees around.
func TestCustomCurvaturesAreNotNegative(t *testing.T) {
	loss, err := losses.Parse("softmax")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		c := Default()
		c.Scorer, c.Transform, c.Epochs = forestScorer, "raw", 1
		tr, err := New(c, Custom{Loss: loss, Curvature: func(_ metrics.Queries, out []float64) error {
			out[1] = bad
			return nil
		}}, small())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Run(ctx, Hooks{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("Custom.Curvature of document 1 is %v: want", bad)) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
