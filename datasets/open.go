package datasets

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Splits are the parts of a collection. They have the same FeatureIDs.
type Splits struct {
	Train *Dataset
	Vali  *Dataset // held out of the training queries where the source has none
	Test  *Dataset // nil where the source has none
}

// Options says what Open opens; the zero value: what it finds.
type Options struct {
	Vali string // the file of the validation split, instead of the one found or held out
	Test string // the file of the test split, instead of the one found
	Seed uint64 // draws the training queries that are held out for validation
}

// Open reads the splits of a collection. The path is a file, which becomes the
// training split, or a folder with a file for each split. Such a file is named
// after its split (train, training, trainingset; vali, valid, validation,
// validationset, val, dev; test, testing, testset; in any letter case),
// with a prefix that all share before it ("rank.", "set1."), and at most one of
// the endings .txt .dat .data .svm .svmlight .libsvm .letor .csv .tsv after it.
//
// Without a validation file, 20 % of the training queries, drawn by the seed,
// are held out. Without a test file, Splits.Test is nil. All splits get the
// columns of the union of their feature ids. Errors are those of ReadFile, and
// a folder without a training file.
func Open(path string, o Options) (*Splits, error) {
	files, err := findFiles(path)
	if err != nil {
		return nil, err
	}
	if o.Vali != "" {
		files.vali = o.Vali
	}
	if o.Test != "" {
		files.test = o.Test
	}
	var tables [3]*table
	var ids []int
	for i, file := range []string{files.train, files.vali, files.test} {
		if file == "" {
			continue
		}
		if tables[i], err = readTable(file, ReadOptions{}); err != nil {
			return nil, err
		}
		ids = union(ids, tables[i].ids)
	}

	s := &Splits{}
	train, vali, test := tables[0], tables[1], tables[2]
	if vali == nil {
		s.Train, s.Vali, err = train.holdOut(ids, o.Seed)
	} else if s.Train, err = train.dataset(ids, nil); err == nil {
		s.Vali, err = vali.dataset(ids, nil)
	}
	if err == nil && test != nil {
		s.Test, err = test.dataset(ids, nil)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// holdOut makes two datasets of a table, 80 % and 20 % of its queries. They
// share one matrix, so that nothing is in memory twice.
func (t *table) holdOut(ids []int, seed uint64) (train, vali *Dataset, err error) {
	n := len(t.queries)
	held := max(1, n/5)
	if n < 2 {
		return nil, nil, fmt.Errorf("datasets: %s: one query cannot be split into training and validation queries: please name a validation file", t.path)
	}
	order := rand.New(rand.NewPCG(seed, 0x686f6c64)).Perm(n)
	slices.Sort(order[:n-held])
	slices.Sort(order[n-held:])
	d, err := t.dataset(ids, order)
	if err != nil {
		return nil, nil, err
	}
	train, vali = d.view(0, n-held), d.view(n-held, n)
	vali.Name += fmt.Sprintf(" (%d queries held out)", held)
	vali.Warnings = nil
	return train, vali, nil
}

// splitFiles are the paths of a collection's files; "" where there is none.
type splitFiles struct{ train, vali, test string }

// The words that name a split, and the endings a data file may have.
var (
	trainWords = []string{"train", "training", "trainingset"}
	valiWords  = []string{"vali", "valid", "validation", "validationset", "val", "dev"}
	testWords  = []string{"test", "testing", "testset"}
	endings    = []string{"", ".txt", ".dat", ".data", ".svm", ".svmlight", ".libsvm", ".letor", ".csv", ".tsv"}
)

// findFiles finds the files of the splits.
func findFiles(path string) (splitFiles, error) {
	info, err := os.Stat(path)
	if err != nil {
		return splitFiles{}, fmt.Errorf("datasets: %w", err)
	}
	if !info.IsDir() {
		return splitFiles{train: path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return splitFiles{}, fmt.Errorf("datasets: %w", err)
	}
	var names []string
	sets := map[string]*splitFiles{} // by prefix
	var prefixes []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += string(filepath.Separator)
		}
		names = append(names, name)
		prefix, split := splitOf(name)
		if split == "" {
			continue
		}
		set := sets[prefix]
		if set == nil {
			set = &splitFiles{}
			sets[prefix] = set
			prefixes = append(prefixes, prefix)
		}
		file := map[string]*string{"train": &set.train, "vali": &set.vali, "test": &set.test}[split]
		if *file != "" {
			return splitFiles{}, fmt.Errorf("datasets: %s: both %s and %s could be the %s split: please name the file",
				path, filepath.Base(*file), name, split)
		}
		*file = filepath.Join(path, name)
	}
	prefixes = slices.DeleteFunc(prefixes, func(p string) bool { return sets[p].train == "" })
	switch len(prefixes) {
	case 1:
		return *sets[prefixes[0]], nil
	case 0:
		return splitFiles{}, fmt.Errorf("datasets: %s: no training file: looked for %s (with a prefix or an ending such as .txt), found %s",
			path, strings.Join(trainWords, ", "), listNames(names))
	}
	return splitFiles{}, fmt.Errorf("datasets: %s: several training files, with the prefixes %s: please name one",
		path, strings.Join(prefixes, ", "))
}

// splitOf is the split ("train", "vali", "test" or none) that a file name
// stands for, and what comes before that word.
func splitOf(name string) (prefix, split string) {
	lower := strings.ToLower(name)
	for _, ending := range endings {
		stem, ok := strings.CutSuffix(lower, ending)
		if !ok {
			continue
		}
		start := strings.LastIndexAny(stem, "._-") + 1
		word := stem[start:]
		switch {
		case slices.Contains(trainWords, word):
			return lower[:start], "train"
		case slices.Contains(valiWords, word):
			return lower[:start], "vali"
		case slices.Contains(testWords, word):
			return lower[:start], "test"
		}
	}
	return "", ""
}

// listNames lists file names for a message.
func listNames(names []string) string {
	const most = 12
	switch {
	case len(names) == 0:
		return "nothing"
	case len(names) > most:
		return fmt.Sprintf("%s, … (%d files)", strings.Join(names[:most], ", "), len(names))
	}
	return strings.Join(names, ", ")
}
