package reader

import "testing"

func TestSplitIsTheWordInAFileName(t *testing.T) {
	type found struct {
		prefix string
		split  int
	}
	const train, vali, test = 0, 1, 2
	none := found{"", -1}
	for name, want := range map[string]found{
		"train.txt": {"", train}, "TRAIN.TXT": {"", train}, "trainingset.txt": {"", train}, "train": {"", train},
		"set1.valid.txt": {"set1.", vali}, "rank.test": {"rank.", test}, "my_dev.svm": {"my_", vali},
		"rank.train.query": none, "train.conf": none, "latest": none, "readme.txt": none,
	} {
		if prefix, split, _ := splitOf(name); (found{prefix, split}) != want {
			t.Errorf("%s: prefix %q, split %d, want %v", name, prefix, split, want)
		}
	}
}
