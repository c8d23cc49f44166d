package describe

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/ranker"
)

func TestModelsAreDescribed(t *testing.T) {
	_, network := commandtest.Command(trainer.Run).Trained(t, commandtest.Fold(t))
	foreign := "../../../../forest/foreign/testdata"
	lightgbm, err := ranker.Open(filepath.Join(foreign, "shop/lightgbm.txt"))
	if err != nil {
		t.Fatal(err)
	}
	mixed := filepath.Join(t.TempDir(), "mixed.npz")
	mixture, err := ranker.Mix([]float64{2, 0.5}, lightgbm, lightgbm)
	if err == nil {
		err = mixture.Save(mixed)
	}
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string][]string{
		network: {`written by +plrank`, `kind +mlp`, `size +[1-9][0-9]* weights`, `1 +– +0 +true`},
		filepath.Join(foreign, "shop/lightgbm.txt"):    {`written by +LightGBM`, `objective +lambdarank`, `size +8 trees, with 32 leaves`, `3, of which 3 are used`, `used +splits +gain +share\n1 +price +0 +true +11 +168.1 +41.6 %`, `3 +brand +3 +true +5 +81.55 +20.2 %`},
		filepath.Join(foreign, "xgboost-numbers.json"): {`written by +XGBoost`, `note +the model has no ids of features: .* k \+ 1`, `7 +– +0 +true +[1-9]`},
		mixed: {`kind +mixture\npart +2 × forest: 8 trees, with 32 leaves\npart +0.5 × forest: .*\ntransform`, `1 +price +0 +true +22 +336.2 +41.6 %`},
	} {
		status, stdout, stderr := call("-model", model)
		for _, line := range want {
			if status != 0 || stderr != "" || !regexp.MustCompile(line).MatchString(stdout) {
				t.Errorf("%s: %d, no %q in\n%s%s", model, status, line, stdout, stderr)
			}
		}
		_, stdout, _ = call("-model", model, "-json")
		var d modelDescription
		if err := json.Unmarshal([]byte(stdout), &d); err != nil || len(d.Features) == 0 || len(d.Version) != 16 || strings.Contains(stdout, "null") {
			t.Errorf("%s: %v\n%s", model, err, stdout)
		}
	}
}
