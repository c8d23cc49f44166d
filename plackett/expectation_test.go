package plackett

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGoldenExpectation(t *testing.T) {
	var file struct {
		Cases []struct {
			Name                                       string
			Scores, Gains, Discounts, Lambda, Exposure []float64
			Value                                      float64
		}
	}
	readGolden(t, "exact-large.json", &file)
	for _, c := range file.Cases {
		for tolerance, allowed := range map[float64]float64{0: 1e-6, 1e-13: 1e-11} {
			e := Expectation{Tolerance: tolerance}
			lambda, exposure := make([]float64, len(c.Scores)), make([]float64, len(c.Scores))
			value, err := e.Gradient(c.Scores, c.Gains, c.Discounts, lambda)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Exposure(c.Scores, c.Discounts, exposure); err != nil {
				t.Fatal(err)
			}
			errLambda := distance(lambda, c.Lambda) / largest(c.Lambda)
			errExposure := distance(exposure, c.Exposure) / largest(c.Exposure)
			errValue := math.Abs(value-c.Value) / math.Abs(c.Value)
			t.Logf("%s, tolerance %v: errors %.2g %.2g %.2g", c.Name, tolerance, errLambda, errExposure, errValue)
			if !(max(errLambda, errExposure, errValue) <= allowed) {
				t.Errorf("%s, tolerance %v: errors of λ, exposure, value %.2g, %.2g, %.2g, allowed %.2g", c.Name, tolerance, errLambda, errExposure, errValue, allowed)
			}
		}
	}
}

func distance(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		if x := math.Abs(a[i] - b[i]); !(x <= d) {
			d = x
		}
	}
	return d
}

func largest(a []float64) float64 { return distance(a, make([]float64, len(a))) }

var _ = errors.As
var _ = fmt.Sprint
var _ = rand.New
var _ = strings.Contains
var _ = rapid.Check
