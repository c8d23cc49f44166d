package compare

import (
	"path/filepath"
	"strings"
	"testing"
)

// Models of other libraries are models, not files of scores.
func TestModelsOfOtherLibrariesAreCompared(t *testing.T) {
	shop := filepath.Join("../../../../forest/foreign/testdata", "shop")
	_, stderr := must(t, filepath.Join(shop, "lightgbm.txt"), filepath.Join(shop, "xgboost.ubj"), filepath.Join(shop, "catboost.json"), "-data", filepath.Join(shop, "shop.csv"))
	if strings.Count(stderr, "model ") != 3 {
		t.Error(stderr)
	}
}
