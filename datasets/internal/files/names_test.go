package files

import "testing"

func TestSplitIsTheWordInAFileName(t *testing.T) {
	finder := Finder{Endings: []string{"", ".txt", ".svm"}}
	for name, want := range map[string][2]string{
		"train.txt": {"", "train"}, "TRAIN.TXT": {"", "train"}, "trainingset.txt": {"", "train"}, "train": {"", "train"},
		"set1.valid.txt": {"set1.", "vali"}, "rank.test": {"rank.", "test"}, "my_dev.svm": {"my_", "vali"},
		"rank.train.query": {}, "train.conf": {}, "latest": {}, "readme.txt": {},
	} {
		if prefix, split := finder.splitOf(name); [2]string{prefix, split} != want {
			t.Errorf("%s: prefix %q, split %q, want %q", name, prefix, split, want)
		}
	}
}
