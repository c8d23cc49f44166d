package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeFullsize makes results of two truths: a forest with two settings, of which the
// slow one ends higher, and plrank.
func writeFullsize(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	writeCurves(t, folder, `truth,method,setting,step,seconds,vali,test
smooth,plrank,,100,15,.6,.65
smooth,plrank,,200,40,.9,.85
smooth,LightGBM,fast,20,10,.5,.50
smooth,LightGBM,fast,40,30,.7,.69
smooth,LightGBM,fast,60,50,.6,.72
smooth,LightGBM,slow,20,25,.4,.41
smooth,LightGBM,slow,40,60,.8,.78
trees,LightGBM,slow,20,25,.4,.43
trees,LightGBM,slow,40,60,.8,.80
trees,LightGBM,slow,60,90,.7,.81
trees,XGBoost,slow,60,90,.7,.71
trees,plrank,,100,15,.6,.67
`)
	return folder
}

func writeCurves(t *testing.T, folder, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, "curves.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestFullsize(t *testing.T) {
	folder := writeFullsize(t)
	document := filepath.Join(folder, "fullsize.md")
	if err := os.WriteFile(document, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if err := fullsize.run([]string{"-results", folder, "-write", document}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| test NDCG@10 | LightGBM | XGBoost | plrank |",
		"| smooth | .7800, 60 s, rising | – | .8500, 40 s |", // by validation, though a test value is higher elsewhere
		"| trees | .8000, 60 s | .7100, 90 s, rising | .6700, 15 s |",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
	training, err := os.ReadFile(filepath.Join(folder, "training.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"truth,seconds,LightGBM,XGBoost,plrank\n",
		"smooth,20,.5000,–,.6500\n",
		"smooth,60,.7800,–,.8500\n", // the slow setting has overtaken the fast one
		"trees,10,–,–,–\n",          // no model yet
		"trees,90,.8100,.7100,.6700\n",
	} {
		if !strings.Contains(string(training), want) {
			t.Errorf("no %q in\n%s", want, training)
		}
	}
	if strings.Contains(string(training), ",120,") {
		t.Error("a row of a moment after the last training has ended")
	}
	for _, picture := range []string{"smooth.svg", "trees.svg"} {
		if stat, err := os.Stat(filepath.Join(folder, picture)); err != nil || stat.Size() == 0 {
			t.Errorf("%s: %v", picture, err)
		}
	}
	writeCurves(t, folder, "truth,method,setting,step,seconds,vali,test\ntrees,plrank,,1,fast,2,3\n")
	if err := fullsize.run([]string{"-results", folder}, &stdout, &stderr); err == nil || !strings.Contains(err.Error(), "curves.csv: row 1: column seconds") {
		t.Error(err)
	}
}

// An envelope never falls, and has nothing before the first model.
func TestEnvelopeNeverFalls(t *testing.T) {
	r, err := readFullsize(writeFullsize(t))
	if err != nil {
		t.Fatal(err)
	}
	last := math.NaN()
	for at := 0.0; at < 100; at++ {
		v := r.envelope("smooth", "LightGBM", at)
		if math.IsNaN(v) != (at < 10) || v < last {
			t.Errorf("%v s: %v after %v", at, v, last)
		}
		last = v
	}
}

// The documents say what the CSV files of fullsize say.
func TestFullsizeIsFresh(t *testing.T) {
	r, err := readFullsize("../fullsize")
	if err != nil {
		t.Fatal(err)
	}
	areFresh(t, fullsize, r, "../README.md", "fullsize.md")
}
