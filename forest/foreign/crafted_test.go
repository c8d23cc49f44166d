package foreign

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// allocated is how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// mostAllocated is the most that reading a file of that size may allocate, garbage included: less than for networks.
func mostAllocated(size int) int { return 16<<20 + 100*size }

func file(t testing.TB, name string) string {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCraftedFilesAreRefused(t *testing.T) {
	light, xg := file(t, "lightgbm-numbers.txt"), file(t, "xgboost-numbers.json")
	onehot, deep := file(t, "catboost-onehot.json"), file(t, "catboost-lossguide.json")
	tree := func(fields string) string {
		return fmt.Sprintf(`{"learner":{"learner_model_param":{"base_score":"0","num_feature":"2"},"gradient_booster":{"model":{"trees":[{%s}]}}}}`, fields)
	}
	lists := func(left, right, columns, conditions, defaults string) string {
		return fmt.Sprintf(`"left_children":[%s],"right_children":[%s],"split_indices":[%s],"split_conditions":[%s],"default_left":[%s]`, left, right, columns, conditions, defaults)
	}
	three := lists("1,-1,-1", "2,-1,-1", "0,0,0", "1,2,3", "0,0,0")
	if _, err := Read([]byte(tree(three))); err != nil {
		t.Fatal(err)
	}
	// Version 1 of XGBoost writes NaN for the threshold of a node of categories, and no iterations.
	old := tree(lists("1,-1,-1", "2,-1,-1", "0,0,0", "NaN,2,3", "0,0,0") + `,"split_type":[1,0,0],"categories":[1],"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[1]`)
	old = strings.Replace(old, `"learner":{`, `"learner":{"attributes":{"best_iteration":"0"},"feature_names":["a\"NaN","b"],`, 1)
	m, err := Read([]byte(old))
	if err != nil || m.Names[0] != `a"NaN` || m.Warnings != nil {
		t.Fatal(m, err)
	}
	scores := make([]float64, 3)
	if m.Score(scores, []float32{1, 0, 0, 0, 70, 0}); !slices.Equal(scores, []float64{3, 2, 2}) {
		t.Error(scores)
	}
	long := binary.BigEndian.AppendUint64([]byte("{L\x00\x00\x00\x00\x00\x00\x00\x01a[$i#L"), 1<<40)
	for _, c := range []struct{ data, want string }{
		{"PK", "not a model.npz, or a model of LightGBM"},
		{"CBM1x", `format="json"`},
		{"booster[0]:\n0:[f0<1]", "a dump of XGBoost in text"},
		{"\x80\x04\x95", "a pickle of Python"},
		{"{", "JSON"},
		{`{"a":[1]}`, "no model of XGBoost, CatBoost"},

		{strings.Replace(light, "max_feature_idx=6", "max_feature_idx=9999999999", 1), "7 feature_names"},
		{strings.Replace(light, "max_feature_idx=6", "max_feature_idx=x", 1), "max_feature_idx=x"},
		{strings.Replace(light, "end of trees", "", 1), "not complete"},
		{strings.Replace(light, "Tree=5", "Trea=5", 1), "5 trees, and tree_sizes of 6"},
		{strings.Replace(light, "Tree=5", "Tree=6", 1), `"Tree=6", want Tree=5`},
		{strings.Replace(light[:strings.Index(light, "Tree=0")], "tree_sizes", "sizes", 1) + "end of trees", "no trees"},
		{strings.Replace(light, "num_class=1", "num_class=3", 1), "num_class=3: a document has several scores"},
		{strings.Replace(light, "num_leaves=", "leaf_value=1\nnum_leaves=", 1), "tree 0: two lines leaf_value"},
		{strings.Replace(light, "split_feature=6 1 1 0 1", "split_feature=0 1 1 0 1", 1), "tree 0: column 0 is split as a number and as a category"},
		{strings.Replace(light, "num_cat=", "num_dog=", 1), "files before LightGBM 2.1"},
		{strings.Replace(light, "decision_type=", "decision_type=12 ", 1), "has 6 numbers"},
		{strings.Replace(light, "decision_type=1 8", "decision_type=1 12", 1), "decision_type 12"},
		{strings.Replace(light, "num_tree_per_iteration=1", "num_tree_per_iteration=3", 1), "several scores"},
		{strings.Replace(light, "num_leaves=6", "num_leaves=1000000000000", 1), "leaf_value has 6 numbers, want 1000000000000"},
		{strings.Replace(light, "num_leaves=6", "num_leaves=0", 1), "num_leaves=0"},
		{strings.Replace(light, "left_child=", "left_child=9", 1), "a child of number 9"},
		{strings.Replace(light, "is_linear=0", "is_linear=1", 1), "without linear_tree"},
		{strings.Replace(light, "threshold=", "threshold=nan ", 1), "threshold has 6 numbers"},
		{strings.Replace(file(t, "lightgbm-dart.txt"), "0.11394731700420381", "nan", 1), "threshold is NaN"},
		{strings.Replace(light, "leaf_value=", "leaf_value=x", 1), "is not one of its numbers"},
		{strings.Replace(light, "split_feature=", "split_feature=7", 1), "want 0 to 6"},
		{strings.Replace(light, "cat_boundaries=0", "cat_boundaries=-1", 1), "cat_boundaries -1"},
		{strings.Replace(light, "num_cat=1", "num_cat=9223372036854775807", 1), "cat_boundaries has 2 numbers"},
		{strings.Replace(file(t, "lightgbm-texts.txt"), "feature_infos=", "feature_infos=[0:1] ", 1), "8 feature_infos"},
		{strings.Replace(light, "feature_infos=", "feature_info=", 1), "0 feature_infos"},
		{strings.Replace(file(t, "lightgbm-texts.txt"), `"c9"]`, `"c8"]`, 1), "a category of city twice"},
		{strings.Replace(file(t, "lightgbm-texts.txt"), `, "c9"]`, `]`, 1), "pandas_categorical has 29"},
		{strings.Replace(file(t, "lightgbm-texts.txt"), `"c9"]`, `["c9"]]`, 1), "want a text, a number"},
		{strings.Replace(light, "Column_3", "Column_2", 1), "two features have the same name"},
		{strings.Replace(file(t, "lightgbm-texts.txt"), `pandas_categorical:[`, `pandas_categorical:[[1,2],`, 1), "3 columns, and 2 are categorical"},

		{strings.Replace(xg, `"num_feature":"7","num_target"`, `"num_feature":"1000000000000","num_target"`, 1), "1000000000000 features"},
		{strings.Replace(xg, `"num_feature":"7","num_target"`, `"num_feature":"-1","num_target"`, 1), "-1 features"},
		{strings.Replace(xg, `"num_trees":"6"`, `"num_trees":"7"`, 1), "6 trees, and num_trees is 7"},
		{strings.Replace(tree(three), `[{"left`, `[],"a":[{"left`, 1), "no trees"},
		{`{"learner":{"learner_model_param":{"base_score":"0","num_feature":"2"},"gradient_booster":{"name":"gblinear","model":{"weights":[1,2,3]}}}}`, `"gblinear" has no trees`},
		{strings.Replace(xg, `"iteration_indptr":[0,`, `"iteration_indptr":[0,0,`, 1), "iteration_indptr"},
		{strings.Replace(xg, `"tree_info":[0,`, `"tree_info":[`, 1), "5 of tree_info for 6 trees"},
		{strings.Replace(xg, `"tree_info":[0,`, `"tree_info":[1,`, 1), "tree_info has several classes"},
		{strings.Replace(xg, `"num_nodes":"`, `"num_nodes":"1`, 1), "num_nodes is 1"},
		{strings.Replace(file(t, "xgboost-texts.json"), `"offsets":[0,4,8,12,15]`, `"offsets":[0,4,8,12,14]`, 1), "a text from byte 12 to 14, of 15"},
		{strings.Replace(file(t, "xgboost-texts.json"), `"offsets":[0,4,8,12,15]`, `"offsets":[0,4,8,15]`, 1), "3 categories, and 4 by feature_segments"},
		{strings.Replace(xg, `"num_class":"0"`, `"num_class":"3"`, 1), "num_class is 3"},
		{strings.Replace(xg, `"base_score":"[`, `"base_score":"[1,`, 1), "want one number"},
		{strings.Replace(file(t, "xgboost-logistic.json"), `"base_score":"[`, `"base_score":"[2`, 1), "want 0 to 1 for reg:logistic"},
		{tree(lists("1,-1,-1", "2,-1", "0,0,0", "1,2,3", "0,0,0")), "different lengths"},
		{tree(""), "are empty"},
		{tree(lists("0,-1,-1", "2,-1,-1", "0,0,0", "1,2,3", "0,0,0")), "two ways"},
		{tree(lists("1,-1,-1", "1,-1,-1", "0,0,0", "1,2,3", "0,0,0")), "two ways"},
		{tree(lists("1,-1,-1", "3,-1,-1", "0,0,0", "1,2,3", "0,0,0")), "node 3 is not one of 3"},
		{tree(lists("1,-1,-1", "2,-1,-1", "2,0,0", "1,2,3", "0,0,0")), "column 2, want 0 to 1"},
		{tree(lists("1,-1,-1", "2,-1,-1", "0,0,0", "1e99,2,3", "0,0,0")), "1e99"},
		{tree(lists("1,-1,-1", "2,-1,-1", "0,0,0", "NaN,2,3", "0,0,0")), "threshold is not finite"},
		{tree(lists("1,-1,-1", "2,-1,-1", "0,0,0", "1,-Infinity,3", "0,0,0")), "leaf 0 is NaN"},
		{tree(three + `,"split_type":[1,0,0],"categories":[1000000000000],"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[1]`), "sets of categories too large"},
		{tree(three + `,"split_type":[1,0,0],"categories":[-1],"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[1]`), "category -1"},
		{tree(three + `,"split_type":[1,0,0],"categories":[1],"categories_nodes":[0],"categories_segments":[0],"categories_sizes":[9223372036854775807]`), "categories 0 and"},
		{tree(three + `,"tree_param":{"size_leaf_vector":"2"}`), "several values"},
		{strings.Replace(tree(three), `"trees"`, `"iteration_indptr":[0,1],"trees"`, 1)[:12] + `"attributes":{"best_iteration":"5"},` + tree(three)[12:], "best_iteration"},
		{string(long), "not complete"},
		{file(t, "xgboost-ubj.ubj") + "\n", "1 bytes after its end"},
		{"{L\x00\x00\x00\x00\x00\x00\x00\x01a" + strings.Repeat("[", 5000), "nested more than 1000"},
		{"{L\x00\x00\x00\x00\x00\x00\x00\x01a[$Z#l\x7f\xff\xff\xff", `array of type 'Z'`},
		{"{L\x7f\x00\x00\x00\x00\x00\x00\x01a", "not complete"},

		{strings.Replace(onehot, `"cat_features_hash":[{`, `"cat_features_hash":[],"x":[{`, 1), "pool=TRAINING_POOL"},
		{strings.Replace(onehot, `"leaf_values":[`, `"leaf_values":[1,`, 1), "9 values of leaves after 3 splits"},
		{strings.Replace(onehot, `"flat_feature_index":0`, `"flat_feature_index":1`, 1), "want each of 7 columns once"},
		{strings.Replace(onehot, `"flat_feature_index":0`, `"flat_feature_index":700`, 1), "want each of 7 columns once"},
		{strings.Replace(onehot, `"split_type":"FloatFeature"`, `"split_type":"TextFeature"`, 1), "split of type"},
		{strings.Replace(onehot, `"float_feature_index":0`, `"float_feature_index":-1`, 1), "a split of number -1"},
		{strings.Replace(onehot, `"split_index":2`, `"split_index":3`, 1), "is by no border of number 0"},
		{strings.Replace(onehot, `"borders":[`, `"borders":[-9,`, 1), "is by no border of number"},
		{strings.Replace(onehot, `"AsFalse"`, `"AsNever"`, 1), `nan_value_treatment "AsNever"`},
		{strings.Replace(onehot, `"scale_and_bias":[1.5,[0.25]]`, `"scale_and_bias":[1.5,[0.25,1]]`, 1), "several scores"},
		{strings.Replace(deep, `"left":{`, `"right":{`, 1), ""},
		{strings.Replace(file(t, "catboost-ctr.json"), `"cat_feature_value"`, `"float_feature"`, -1), "max_ctr_complexity=1"},
		{strings.Replace(file(t, "catboost-ctr.json"), `"hash_stride":3`, `"hash_stride":0`, 1), "in rows of 0"},
	} {
		var err error
		n := allocated(func() { _, err = Read([]byte(c.data)) })
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
			t.Errorf("%.300s\nerror %v, want %q", c.data, err, c.want)
		}
		if most := mostAllocated(len(c.data)); n > most {
			t.Errorf("%d bytes were allocated for a file of %d, want %d at most: %v", n, len(c.data), most, err)
		}
	}
}

// A file with much of what takes few bytes is read in memory in proportion to it.
func TestCraftedFilesAllocateLittle(t *testing.T) {
	const n = 30_000
	ones := "1" + strings.Repeat(",1", n)
	var stumps []byte
	for i := range n {
		stumps = fmt.Appendf(stumps, "Tree=%d\nnum_leaves=1\nnum_cat=0\nleaf_value=0\n", i)
	}
	const leaf = `{"left_children":[-1],"right_children":[-1],"split_indices":[0],"split_conditions":[0],"default_left":[0]}`
	for name, data := range map[string]string{
		"empty trees":    `{"learner":{"learner_model_param":{"base_score":"0","num_feature":"1"},"gradient_booster":{"model":{"trees":[{}` + strings.Repeat(",{}", n) + `]}}}}`,
		"features":       `{"learner":{"learner_model_param":{"base_score":"0","num_feature":"1000000"},"gradient_booster":{"model":{"trees":[` + leaf + `]}}}}`,
		"categories":     `{"learner":{"learner_model_param":{"base_score":"0","num_feature":"1"},"gradient_booster":{"model":{"cats":{"enc":[{"values":[` + ones + `]}]},"trees":[` + leaf + `]}}}}`,
		"empty enc":      `{"learner":{"learner_model_param":{"base_score":"0","num_feature":"1"},"gradient_booster":{"model":{"cats":{"enc":[{}` + strings.Repeat(",{}", n) + `]},"trees":[]}}}}`,
		"cat features":   `{"features_info":{"categorical_features":[{}` + strings.Repeat(",{}", n) + `]}}`,
		"cat trees":      `{"features_info":{"float_features":[{}]},"trees":[{}` + strings.Repeat(",{}", n) + `]}`,
		"cat splits":     `{"features_info":{"float_features":[{}]},"oblivious_trees":[{"splits":[{}` + strings.Repeat(",{}", n) + `]}]}`,
		"hashes":         `{"features_info":{"float_features":[{}],"cat_features_hash":[{}` + strings.Repeat(",{}", n) + `]},"trees":[]}`,
		"ctrs":           `{"features_info":{"float_features":[{}],"ctrs":[{}` + strings.Repeat(",{}", n) + `]},"trees":[]}`,
		"deep trees":     `{"features_info":{"float_features":[{"borders":[0]}]},"trees":[` + strings.Repeat(`{"split":{"split_type":"FloatFeature"},"right":{"value":1},"left":`, 9000) + `{"value":1}` + strings.Repeat("}", 9000) + `]}`,
		"LightGBM names": "tree\nnum_tree_per_iteration=1\nmax_feature_idx=29999\nfeature_names=" + strings.Repeat("a ", n) + "\nfeature_infos=" + strings.Repeat("none ", n) + "\nend of trees",
		"LightGBM trees": "tree\nnum_tree_per_iteration=1\nmax_feature_idx=0\nfeature_names=a\nfeature_infos=none\n" + string(stumps) + "\nend of trees",
		"LightGBM sets":  "tree\nnum_tree_per_iteration=1\nmax_feature_idx=0\nfeature_names=a\nfeature_infos=none\n\nTree=0\nnum_leaves=" + fmt.Sprint(n+2) + "\nnum_cat=1\ncat_boundaries=0 100\ncat_threshold=" + strings.Repeat("4294967295 ", 100) + "\nleaf_value=" + strings.Repeat("0 ", n+2) + "\nsplit_gain=" + strings.Repeat("0 ", n+1) + "\nthreshold=" + strings.Repeat("0 ", n+1) + "\ndecision_type=" + strings.Repeat("1 ", n+1) + "\nsplit_feature=" + strings.Repeat("0 ", n+1) + "\nleft_child=" + strings.Repeat("0 ", n+1) + "\nright_child=" + strings.Repeat("0 ", n+1) + "\n\nend of trees",
		"UBJ":            "{L\x00\x00\x00\x00\x00\x00\x00\x01a[#l\x00\x04\x00\x00" + strings.Repeat("Z", 1<<18) + "}",
	} {
		began := time.Now()
		var err error
		allocates := allocated(func() { _, err = Read([]byte(data)) })
		if most := mostAllocated(len(data)); allocates > most {
			t.Errorf("%s: %d bytes were allocated for a file of %d, want %d at most", name, allocates, len(data), most)
		}
		t.Logf("%s: %d KB for %d KB, %v, %.100v", name, allocates>>10, len(data)>>10, time.Since(began), err)
	}
}

// FuzzRead: no bytes make reading panic or allocate more than is in proportion to their number, and a model that is read
// scores.
func FuzzRead(f *testing.F) {
	for _, path := range append(models(f), modelsIn(f, engines)...) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m *Model
		var err error
		if n, most := allocated(func() { m, err = Read(bytes.Clone(data)) }), mostAllocated(len(data)); n > most {
			t.Errorf("%d bytes were allocated for a file of %d, want %d at most", n, len(data), most)
		}
		if err == nil && m.Forest.Inputs < 1000 {
			m.Score(make([]float64, 3), make([]float32, 3*m.Forest.Inputs))
		}
	})
}
