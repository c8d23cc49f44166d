package main

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/plrank/plrank/clicks"
)

// Exposures from 1,000 rankings give nearly the gains of exact ones, for documents that are exposed often.
func TestSampledGainsAreNearTheExactOnes(t *testing.T) {
	d := made(20, 8, 1)
	u := user(5)
	u.Behaviour = clicks.PositionBased(baidu.Alpha)
	l, err := clicks.Simulate(d, logger(5), u, 40000, 1)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := clicks.Gains(l, baidu, clicks.DR)
	if err != nil {
		t.Fatal(err)
	}
	sampled, err := sampledGains(l, baidu, 1)
	if err != nil {
		t.Fatal(err)
	}
	farthest, squares := 0., 0.
	for r, g := range exact.Gains {
		farthest = max(farthest, math.Abs(g-sampled.Gains[r]))
		squares += (g - sampled.Gains[r]) * (g - sampled.Gains[r])
	}
	if deviation := math.Sqrt(squares / float64(len(exact.Gains))); deviation == 0 || deviation > .02 || farthest > .1 {
		t.Errorf("gains from samples are %v from the exact ones on average, %v at most: want some noise, up to .02 and .1", deviation, farthest)
	}
}

// What the gate is shown has the value that the table says.
func TestModelsOfTheGateHaveTheirValue(t *testing.T) {
	d := made(50, 20, 1)
	former, err := worthOf(d, func(f float64) float64 { return 2 * f })
	if err != nil {
		t.Fatal(err)
	}
	for _, better := range []float64{-.05, 0, .05} {
		slope, err := slopeFor(d, former*(1+better))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := worthOf(d, other(slope)); err != nil || math.Abs(v/former-1-better) > 1e-6 {
			t.Errorf("slope %v has %v times the value, %v: want %v", slope, v/former, err, 1+better)
		}
	}
}

// A measurement that is in the file is not made again, and points are what the file says.
func TestCurvesGoOnWhereTheyEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curves.csv")
	measured := 0
	for range 2 {
		f, err := openCurves(path)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(2) {
			for i, method := range []string{"naive", "dr, 1000 samples"} {
				err := f.add("MQ2008", &production{seed: seed}, 1000, method, func() ([]float64, error) {
					measured++
					return []float64{.25 + .5*float64(i), .5 + .25*float64(seed)}, nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	points, err := readPoints(path)
	if err != nil {
		t.Fatal(err)
	}
	sampled := find(points, "MQ2008", 1000, "dr, 1000 samples")
	if test, err := sampled.against(find(points, "MQ2008", 1000, "naive")); measured != 4 || len(points) != 2 || sampled.mean() != .6875 || err != nil || test.Difference != .25 || test.Pairs != 4 {
		t.Errorf("%d measurements, %d points, mean %v, %+v, %v", measured, len(points), sampled.mean(), test, err)
	}
}
