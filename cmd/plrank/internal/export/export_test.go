package export

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/ranker"
)

var call = commandtest.Command(Run).Call

func TestMain(m *testing.M) { commandtest.Main(m) }

// -onnx writes a new file, and says what is wrong with a command line.
func TestModelGoesToANewFile(t *testing.T) {
	_, model := commandtest.Command(trainer.Run).Trained(t, commandtest.Fold(t))
	path := filepath.Join(t.TempDir(), "m.onnx")
	if status, _, stderr := call("-model", model, "-onnx", path); status != 0 {
		t.Fatal(stderr)
	}
	if data, err := os.ReadFile(path); err != nil || !strings.Contains(string(data), "feature_ids") {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	for want, args := range map[string][]string{
		"results go to new files":                                      {"-model", model, "-onnx", path},
		"-model and one of -onnx, -solr and -elasticsearch are needed": {"-onnx", path},
		"there is no flag -seed":                                       {"-model", model, "-onnx", path, "-seed", "3"},
	} {
		if status, _, stderr := call(args...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s", args, status, stderr)
		}
	}
}

// What is printed says how the model must be run.
func TestExportSaysHowToRunTheModel(t *testing.T) {
	data, based := commandtest.Fold(t), commandtest.Fold(t)
	for _, split := range []string{"train", "vali", "test"} {
		path := filepath.Join(based, split+".txt")
		commandtest.Write(t, path+".init", strings.Repeat(".5\n", strings.Count(commandtest.Read(t, path), "\n")))
	}
	for want, flags := range map[string][]string{
		"the score of a document does not depend on the others": {"-transform", "standard"},
		"scores compare the documents of a query":               {"-transform", "standard", "-scorer", "attention"},
		"; base_scores, a second input":                         {"-data", based},
	} {
		_, model := commandtest.Command(trainer.Run).Trained(t, data, flags...)
		status, _, stderr := call("-model", model, "-onnx", filepath.Join(t.TempDir(), "m.onnx"))
		if status != 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s", flags, status, stderr)
		}
	}
}

// A forest for a search engine scores as the forest does, and what is printed has the names that the engine needs.
func TestForestsForSearchEnginesScoreAlike(t *testing.T) {
	data := commandtest.Fold(t)
	_, model := commandtest.Command(trainer.Run).Trained(t, data, "-scorer", "forest")
	_, network := commandtest.Command(trainer.Run).Trained(t, data)
	m, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	for flag, use := range map[string]string{"-solr": "schema/model-store", "-elasticsearch": "_ltr/_featureset/FEATURESET/_createmodel"} {
		path := filepath.Join(t.TempDir(), "engine.json")
		status, _, stderr := call("-model", model, flag, path)
		if status != 0 || !strings.Contains(stderr, "@"+path) || !strings.Contains(stderr, use) {
			t.Fatal(stderr)
		}
		engine, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range engine.FeatureIDs() {
			if !regexp.MustCompile(fmt.Sprintf(`named .*\b%d\b`, id)).MatchString(stderr) {
				t.Errorf("feature %d is not in %s", id, stderr)
			}
		}
		for value := range 200 {
			row, part := make([]float32, len(m.FeatureIDs())), []float32{}
			for c, id := range m.FeatureIDs() {
				if row[c] = float32(value*(c+3)%97) / 97; slices.Contains(engine.FeatureIDs(), id) {
					part = append(part, row[c])
				}
			}
			want, err1 := m.Score(nil, row)
			got, err2 := engine.Score(nil, part)
			if err := errors.Join(err1, err2); err != nil || math.Abs(got[0]-want[0]) > 1e-6*max(1, math.Abs(want[0])) {
				t.Fatalf("%s: %v gives %v, want %v, error %v", flag, row, got, want, err)
			}
		}
		if status, _, stderr := call("-model", network, flag, path+"2"); status == 0 || !strings.Contains(stderr, "engines compute forests") {
			t.Errorf("%d, %s", status, stderr)
		}
	}
}
