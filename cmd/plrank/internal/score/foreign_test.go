package score

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const foreign = "../../../../forest/foreign/testdata"

// Rows of tables get the scores that the libraries gave them: features are found by name, and categories by text or number.
func TestTablesHaveTheScoresOfOtherLibraries(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(foreign, "*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text := read(t, file)
		if !strings.HasPrefix(text, "price,") {
			continue // it has no names
		}
		rows, want := "qid,", []float64(nil)
		for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
			if i > 0 {
				if strings.Contains(line, "inf") { // which data files cannot have
					continue
				}
				v, err := strconv.ParseFloat(line[strings.LastIndex(line, ",")+1:], 64)
				if err != nil {
					t.Fatal(err)
				}
				rows, want = rows+"1,", append(want, v)
			}
			rows += line[:strings.LastIndex(line, ",")] + "\n"
		}
		name := strings.TrimSuffix(file, ".csv")
		for _, ending := range []string{".txt", ".json", ".ubj"} {
			if _, err := os.Stat(name + ending); err == nil {
				name += ending
			}
		}
		data := filepath.Join(t.TempDir(), "rows.csv")
		write(t, data, rows)
		stdout, stderr := must(t, "-model", name, "-data", data)
		got := scoresOf(t, stdout)
		if len(got) != len(want) || len(got) < 5 || strings.Contains(stderr, "found by id") {
			t.Errorf("%s: %d scores, want %d; %s", name, len(got), len(want), stderr)
			continue
		}
		for i, w := range want {
			if math.Abs(float64(got[i])-w) > 1e-6*max(1, math.Abs(w)) {
				t.Errorf("%s, row %d: score %v, want %v", name, i, got[i], w)
			}
		}
	}
}

// How ids were given to columns without names is said.
func TestNumberingOfColumnsIsSaid(t *testing.T) {
	t.Parallel()
	letor := filepath.Join(t.TempDir(), "letor.txt")
	write(t, letor, "1 qid:1 1:1 2:1 3:1 4:1 5:1 6:1 7:1\n")
	if _, stderr := must(t, "-model", filepath.Join(foreign, "lightgbm-numbers.txt"), "-data", letor); !strings.Contains(stderr, "for feature k + 1") {
		t.Error(stderr)
	}
	if _, stderr := must(t, "-model", filepath.Join(foreign, "shop", "catboost.json"), "-data", letor); !strings.Contains(stderr, "for feature k + 1") || !strings.Contains(stderr, "positions in the lists of its texts") {
		t.Error(stderr)
	}
	if _, stderr := must(t, "-model", filepath.Join(foreign, "xgboost-all.json"), "-data", letor); !strings.Contains(stderr, "all 12 trees count") {
		t.Error(stderr)
	}
}

// Categories that are numbers are counted and named, too, where the model does not know them: by the file's categories of pandas,
// or by those that LightGBM saw in training.
func TestUnknownCategoriesThatAreNumbersAreNamed(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"lightgbm-integers.txt": `1 values of the feature shop are categories that the model does not know: "7" (1)`,
		"xgboost-integers.ubj":  `1 values of the feature shop are categories that the model does not know: "7" (1)`,
		"lightgbm-numbers.txt":  `1 values of the feature 6 are categories that the model does not know: "7" (1)`,
	} {
		table := "qid,price,age,stock,x3,x4,shop,city\n1,1,1,1,1,1,0,7\n1,1,1,1,1,1,7,7\n1,1,1,1,1,1,,14\n"
		if model == "lightgbm-numbers.txt" {
			table = "qid,1,2,3,4,5,6,7\n1,1,1,1,1,1,0,7\n1,1,1,1,1,1,7,7\n1,1,1,1,1,1,,14\n"
		}
		data := filepath.Join(t.TempDir(), "rows.csv")
		write(t, data, table)
		if _, stderr := must(t, "-model", filepath.Join(foreign, model), "-data", data); strings.Count(stderr, "does not know") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %s, want %s", model, stderr, want)
		}
	}
}
