package losses_test

import (
	"runtime/debug"
	"testing"

	G "gorgonia.org/gorgonia"

	"github.com/plrank/plrank/internal/optest"
)

// The tests make thousands of small graphs: collecting these less often halves their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

var vector, ints, numbers = optest.Vector, optest.Ints, optest.Numbers

// fataler is a test, of package testing or rapid.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// differentiate runs a graph on the tape machine.
func differentiate(t fataler, loss, scores *G.Node) (float64, []float64) {
	t.Helper()
	value, gradient, err := optest.Tape(loss, scores)
	if err != nil {
		t.Fatal(err)
	}
	return value[0], gradient
}

// lispGradient is the gradient by the Lisp machine.
func lispGradient(t fataler, loss, scores *G.Node) []float64 {
	t.Helper()
	_, gradient, err := optest.Lisp(loss, scores)
	if err != nil {
		t.Fatal(err)
	}
	return gradient
}

// evaluate gives the numbers of a node.
func evaluate(t fataler, n *G.Node) []float64 {
	t.Helper()
	x, err := evaluated(n)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func evaluated(n *G.Node) ([]float64, error) {
	var value G.Value
	G.Read(n, &value)
	vm := G.NewTapeMachine(n.Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	return numbers(value), nil
}

func flat(rows [][]float64) (x []float64) {
	for _, r := range rows {
		x = append(x, r...)
	}
	return x
}

func differentiated(loss, scores *G.Node) (float64, []float64, error) {
	value, gradient, err := optest.Tape(loss, scores)
	if err != nil {
		return 0, nil, err
	}
	return value[0], gradient, nil
}
