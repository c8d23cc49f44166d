package export

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
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
		"results go to new files":          {"-model", model, "-onnx", path},
		"-model and -onnx are both needed": {"-onnx", path},
		"there is no flag -seed":           {"-model", model, "-onnx", path, "-seed", "3"},
	} {
		if status, _, stderr := call(args...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s", args, status, stderr)
		}
	}
}

// What is printed says how the model must be run.
func TestExportSaysHowToRunTheModel(t *testing.T) {
	data := commandtest.Fold(t)
	for want, flags := range map[string][]string{
		"the score of a document does not depend on the others": {"-transform", "standard"},
		"scores compare the documents of a query":               {"-transform", "standard", "-scorer", "attention"},
		"; base_scores, a second input":                         {"-base-column", "2"},
	} {
		_, model := commandtest.Command(trainer.Run).Trained(t, data, flags...)
		if status, _, stderr := call("-model", model, "-onnx", filepath.Join(t.TempDir(), "m.onnx")); status != 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s", flags, status, stderr)
		}
	}
}
