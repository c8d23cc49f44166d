package kernel_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/notebooks/internal/jupyter"
	"github.com/plrank/plrank/notebooks/internal/kernel"
)

// build builds the kernel; the first time it takes a minute.
func build(t *testing.T) (module, program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the kernel")
	}
	module, err := kernel.Module()
	if err != nil {
		t.Fatal(err)
	}
	program, err = kernel.Build(module)
	if err != nil {
		t.Fatal(err)
	}
	return module, program
}

// installed builds the kernel and installs it in a new folder.
func installed(t *testing.T) (data string) {
	t.Helper()
	if err := jupyter.Available(); err != nil {
		t.Skip(err)
	}
	_, program := build(t)
	data = t.TempDir()
	if _, err := jupyter.Install(data, program); err != nil {
		t.Fatal(err)
	}
	return data
}

// execute runs cells, and returns the notebook with its outputs. Cells are allowed
// to fail if tagged so.
func execute(t *testing.T, data string, tags []string, cells ...string) (string, error) {
	t.Helper()
	list := []any{}
	for _, c := range cells {
		list = append(list, map[string]any{"cell_type": "code", "metadata": map[string]any{"tags": tags}, "source": c, "outputs": []any{}, "execution_count": nil})
	}
	b, err := json.Marshal(map[string]any{"cells": list, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": 4})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb")
	if err := os.WriteFile(in, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := jupyter.Execute(data, in, out); err != nil {
		return "", err
	}
	b, err = os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), nil
}

// What is wrong in a cell is said in the notebook, and the next cell runs, with all
// variables there are; so does an interrupt.
func TestKernelGoesOnAfterAnError(t *testing.T) {
	cases := []struct{ cell, want string }{
		{"import (\"errors\"; \"fmt\")\nif err := errors.New(\"no such split\"); err != nil { panic(fmt.Errorf(\"reading: %w\", err)) }", `^reading: no such split$`},
		{"x := []int{1, 2}\ni := 5\nx[i]", `^cell:3:1: .*index out of range`},
		{"i = 4\n\nx[i] = 3\ni = 2", `^cell:3:\d+: .*index out of range`},
		{"func last(v []int) int {\n\tn := len(v)\n\treturn v[n]\n}\nlast(x)", `^cell:3:\d+: .*index out of range`},
		{"for k := 0; k < 3; k++ {\n\tx[k] = k\n}", `^cell:2:\d+: .*index out of range`},
		{"var none map[string]int\nnone[\"a\"] = 1", `^cell:2:\d+: .*nil map`},
		{"import \"github.com/plrank/plrank/viz\"\nviz.Plot{Series: []viz.Series{{Name: \"a\", X: []float64{1}, Y: []float64{1, 2}}}}.SVG()", `^viz: series 0 \("a"\) has 1 x and 2 y values$`},
		{"y := 1\nx := := 3", `^cell:2:6: expected operand, found ':='$`},
		{"var n int = \"text\"", `cannot convert .*"text".* to <int>`},
		{"undefinedName + 1", `^cell:1:1: undefined identifier: undefinedName$`},
		{"import \"github.com/nobody/nothing\"", `^package "github.com/nobody/nothing" is not part of this kernel; notebooks/README.md says how to add it$`},
		{"import (\n\t\"fmt\"\n\t\"example.org/x\"\n)", `"example.org/x" is not part of this kernel`},
		{"import \"slices\"", `"slices" is not part of this kernel`},
		{"import \"github.com/plrank/plrank/losses\"\n_, err := losses.Parse(\"plrank9\")\nif err != nil { panic(err) }", `plrank9.*the nearest of`},
		{"import (\"os\"; \"time\")\nself, _ := os.FindProcess(os.Getpid())\ngo func() { time.Sleep(300*time.Millisecond); self.Signal(os.Interrupt) }()\nfor i := 0; ; i++ { }", `signal: interrupt`},
		{"panic(len(x))", `^2$`},
	}
	var cells []string
	for _, c := range cases {
		cells = append(cells, c.cell)
	}
	out, err := execute(t, installed(t), []string{"raises-exception"}, cells...)
	if err != nil {
		t.Fatal(err)
	}
	var notebook struct {
		Cells []struct {
			Outputs []struct {
				OutputType string `json:"output_type"`
				Value      string `json:"evalue"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &notebook); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if got := notebook.Cells[i].Outputs; len(got) != 1 || got[0].OutputType != "error" || !regexp.MustCompile(c.want).MatchString(got[0].Value) {
			t.Errorf("%s\nsays %+v, want %s", c.cell, got, c.want)
		}
	}
}

// A run that fails has an error, with what the cell said.
func TestFailedRunSaysWhatTheCellSaid(t *testing.T) {
	data := installed(t)
	for cell, want := range map[string]string{
		"panic(\"reason\")":         "reason",
		"import \"os\"\nos.Exit(3)": "Kernel died",
	} {
		if _, err := execute(t, data, []string{}, cell); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", cell, err, want)
		}
	}
}

func TestLastValueOfACellIsShown(t *testing.T) {
	out, err := execute(t, installed(t), []string{}, `import (
	"fmt"
	"github.com/plrank/plrank/ops"
	"github.com/plrank/plrank/viz"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)`, `viz.Table{Title: "caption", Columns: []string{"x"}, Rows: []viz.Row{{0.25}}}`,
		`viz.Plot{X: "abscissa", Series: []viz.Series{{Y: []float64{1, 2}}}}`,
		`fmt.Println("printed")`,
		`m := map[string][]int{"a": {1, 2}}
func sum(x []int) int { s := 0; for _, v := range x { s += v }; return s }
func get(k string) []int { return m[k] }
var e interface{} = []int{3}
c := make(chan []int, 1)
c <- []int{1}
fmt.Println("sum", sum(m["a"]), sum(e.([]int)), sum(<-c))`,
		`g := G.NewGraph()
scores := G.NewVector(g, tensor.Float64, G.WithShape(3), G.WithName("scores"), G.WithValue(tensor.New(tensor.WithBacking([]float64{3, 2, 1}))))
s := ops.NewSampler(4, 2, 1)
rankings, err := ops.Rankings(ops.Lists{Scores: scores}, s)
if err != nil { panic(err) }
vm := G.NewTapeMachine(g)
if err := vm.RunAll(); err != nil { panic(err) }
rankings.Value().Shape()`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`sum 3 3 1`, `caption</caption>`, `"image/svg+xml"`, `abscissa`, `"printed\n"`, `(1, 4, 2)`, `0.2500`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in the outputs", want)
		}
	}
	if strings.Contains(out, "8 \\u003cnil") || strings.Contains(out, `8 <nil>`) {
		t.Error("the number of bytes printed is shown as a result")
	}
	if t.Failed() {
		t.Log(out)
	}
}

// The interpreter must see the methods that there are; see the tests of symbols,
// which need the edited gomacro.
func TestCellsSeeMethods(t *testing.T) {
	module, _ := build(t)
	modfile, err := kernel.Prepare(module)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-modfile", modfile, "-tags", "edited", "./symbols")
	cmd.Dir, cmd.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, b)
	}
}
