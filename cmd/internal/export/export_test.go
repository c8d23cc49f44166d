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
