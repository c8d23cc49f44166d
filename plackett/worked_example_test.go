package plackett

import (
	"math"
	"testing"
)

// The worked example of lab/exact.md: one node of the quadrature, for three documents and two ranks.
func TestSweepAgreesWithTheWorkedExample(t *testing.T) {
	const time = 0.5
	w, gains, drops := []float64{2, 1, 1}, []float64{1, 0, 3}, [3]float64{.5, .5, 0}
	type state struct{ p, b, a [2]float64 }
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 5e-5 {
			t.Errorf("%s: %.4f, lab/exact.md has %.4f", what, got, want)
		}
	}
	before := []state{{p: [2]float64{1, 0}}}
	for d := range w {
		q := math.Exp(-w[d] * time)
		p, f := 1-q, time*w[d]*q
		from := before[d]
		var to state
		for k := range 2 {
			to.p[k], to.b[k], to.a[k] = q*from.p[k], q*from.b[k]+f*from.p[k], q*from.a[k]+gains[d]*f*from.p[k]
			if k > 0 {
				to.p[k], to.b[k], to.a[k] = to.p[k]+p*from.p[k-1], to.b[k]+p*from.b[k-1], to.a[k]+p*from.a[k-1]
			}
		}
		before = append(before, to)
	}
	for d, want := range []state{
		{p: [2]float64{1, 0}},
		{[2]float64{.3679, .6321}, [2]float64{.3679, 0}, [2]float64{.3679, 0}},
		{[2]float64{.2231, .5281}, [2]float64{.3347, .3364}, [2]float64{.2231, .1447}},
	} {
		for k := range 2 {
			near("P", before[d].p[k], want.p[k])
			near("B", before[d].b[k], want.b[k])
			near("A", before[d].a[k], want.a[k])
		}
	}
	u, x, y := drops, [3]float64{}, [3]float64{}
	wantU, wantX, wantY := [][2]float64{{.5, .5}, {.5, .3033}, {.4226, .1839}}, [][2]float64{{}, {.1516, .1516}, {.3033, .1839}}, [][2]float64{{}, {.4549, .4549}, {.4549, .2759}}
	lambda, sum := []float64{-.0558, -.1937, .2495}, 0.0
	for i, d := range []int{2, 1, 0} {
		q := math.Exp(-w[d] * time)
		p, f, own := 1-q, time*w[d]*q, 0.0
		for k := range 2 {
			near("U", u[k], wantU[i][k])
			near("X", x[k], wantX[i][k])
			near("Y", y[k], wantY[i][k])
			s := before[d]
			own += gains[d]*(s.b[k]*u[k]+s.p[k]*x[k]) - s.a[k]*u[k] - s.p[k]*y[k]
		}
		near("λ/h", f*own, lambda[d])
		sum += f * own
		for k := range 2 {
			x[k], y[k] = q*x[k]+p*x[k+1]+f*u[k], q*y[k]+p*y[k+1]+gains[d]*f*u[k]
			u[k] = q*u[k] + p*u[k+1]
		}
	}
	if math.Abs(sum) > 1e-15 {
		t.Errorf("Σλ = %v", sum)
	}
}
