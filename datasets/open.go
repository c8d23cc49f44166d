package datasets

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/datasets/internal/store"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/internal/textfile"
)

// Options says what Open opens, and how. The zero value opens the files that it finds.
type Options struct {
	// Read says how to read the files. FeatureIDs, if given, are the columns of all splits.
	Read ReadOptions

	// Vali and Test are the files of the validation and the test split. Empty: the files that are found; see [Open].
	Vali, Test string

	// Fold is the fold to open, of a folder with Fold1, Fold2, …, or of Folds. 0: the path is not a folder of folds.
	Fold int

	// Seed draws the training queries that are held out for validation, and the queries of each fold.
	Seed uint64

	// Folds, 3 or more, is for cross-validation on one file, whose queries are divided into this number of folds of equal size.
	// As in LETOR, fold number Fold (from 1) is the test split, the next one, or the first after the last, is the validation
	// split, and the others are the training split. 0: the file is not divided.
	Folds int

	// Unlabelled says what happens to documents without a label: "drop" leaves them out of the splits, and "keep" keeps them.
	// Empty: "drop".
	Unlabelled string

	// FeaturesOnly says that only the features of the training split are used, for example because gains come from a log of
	// clicks. Its tables need no labels, all its documents are kept, and no query is held out: without a validation file,
	// Splits.Vali is nil.
	FeaturesOnly bool

	// Cache is a folder for binary copies of the splits; see [Open]. Empty: no copies are made.
	Cache string

	chunkSize int // see reader.FileOptions
}

// Splits are the training, validation and test data of a collection. They have the same FeatureIDs.
type Splits struct {
	Train *Dataset
	Vali  *Dataset // held out of the training queries if the source has none
	Test  *Dataset // nil if the source has none
}

// Warnings returns the warnings of all splits.
func (s *Splits) Warnings() []string {
	var all []string
	for _, d := range s.all() {
		if d != nil {
			all = append(all, d.Warnings...)
		}
	}
	return all
}

func (s *Splits) all() splits { return splits{s.Train, s.Vali, s.Test} }

// splits are the training, validation and test data of a collection; nil if there are none.
type splits [3]*Dataset

// Folds returns the folds of a collection: the numbers of the folders Fold1, Fold2, … in a folder, ascending; nil for a file or
// a folder without folds.
func Folds(path string) ([]int, error) { return reader.FoldsIn(path) }

// Open reads the splits of a collection. The path is a file, which becomes the training
// split, or a folder with a file for each split.
//
// The name of such a file is the name of its split (train, training, trainingset; vali,
// valid, validation, validationset, val, dev; test, testing, testset; in any letter case).
// Before it there may be a prefix that all files share ("rank.", "set1."); after it there
// may be an ending of a text format, such as .txt or .csv, and then .gz or .zst. If a folder
// has files with several prefixes, folder/prefix chooses. A folder of folds (Fold1, …)
// needs Options.Fold; see [Folds].
//
// A split may also be in many part files, of any format. They are the files of a folder
// named after the split, except those whose names begin with a dot or an underscore, in the
// order of the numbers in their names; or files such as train-00003-of-00010.txt,
// train.7.csv.gz or train.part-7.zst. Options.Vali and Options.Test may be such folders. A
// folder with files such as part-00003.csv alone is a training split. All documents of a
// query must be in one file. If the names tell the number of files, all must be there, and no
// others. Files without documents, such as a header alone, are named in a warning.
//
// Without a validation file, 20 % of the training queries, drawn by the seed,
// are held out. If Options.Vali is the training file, by any path, nothing is held out, and both
// splits have the same documents. Without a test file, Splits.Test is nil.
// Documents without a label are left out of all splits, with a warning; see also
// [ErrMinusOne]. All splits get the columns of the union of their feature ids.
//
// With Options.Cache, the splits are written to a file as they are in memory, named
// .plrank-….cache, which the next Open of the same files with the same options maps. The
// features then take no memory of the process, and Features, Labels, weights and base
// scores are read-only. A cache belongs to the content of the files: every byte of them is read for two
// checksums, at the speed of reading. A stale, truncated or corrupt cache is built
// anew; a warning says if one cannot be written. Data from a pipe are not cached. A cache
// may be deleted at any time, but not truncated while a program uses it.
//
// Open returns the errors of [ReadFile], and an error for a folder without a training file.
func Open(path string, o Options) (*Splits, error) {
	if o.Unlabelled != "" && o.Unlabelled != "drop" && o.Unlabelled != "keep" {
		return nil, fmt.Errorf("datasets: invalid Options.Unlabelled %q: want drop or keep", o.Unlabelled)
	}
	files, err := o.find(path)
	if err != nil {
		return nil, err
	}
	holdOut := 0.2
	if o.FeaturesOnly {
		holdOut = 0
	}
	same := func(a, b string) bool { return a == b || textfile.SamePath(a, b) }
	if slices.EqualFunc(files[1].Files, files[0].Files, same) { // nothing is held out, and the file is read once
		files[1], holdOut = reader.Split{}, 0
	}
	read := func() (splits, error) { return o.read(files, holdOut) }
	var s splits
	if o.Cache != "" {
		s, err = splitCache{o.cacheKey(files, holdOut), files, o.Cache}.open(read)
	} else {
		s, err = read()
	}
	if err != nil {
		return nil, err
	}
	if err := joinIntents(o.Read.Subtopics, s[:]...); err != nil {
		return nil, err
	}
	switch {
	case o.Folds > 0:
		for i, d := range s {
			d.Name += fmt.Sprintf(" (fold %d of %d: %s)", o.Fold, o.Folds, splitNames[i])
		}
	case s[1] == nil && !o.FeaturesOnly:
		same := *s[0]
		same.Warnings = nil
		s[1] = &same
	case files[1].Path == "" && !o.FeaturesOnly:
		s[1].Name += fmt.Sprintf(" (%d queries held out)", s[1].Queries())
	}
	return &Splits{s[0], s[1], s[2]}, nil
}

// find finds the files of the splits.
func (o Options) find(path string) (files reader.Splits, err error) {
	fold := o.Fold // of the folder
	if o.Folds != 0 {
		fold = 0
	}
	if files, err = reader.FindSplits(path, fold); err != nil {
		return files, err
	}
	if o.Folds != 0 {
		if err := o.checkFolds(path, files); err != nil {
			return files, err
		}
	}
	for i, given := range []string{1: o.Vali, 2: o.Test} {
		if given == "" {
			continue
		}
		if files[i], err = reader.SplitOf(given); err != nil {
			return files, err
		}
	}
	return files, nil
}

// checkFolds finds options and files that contradict folds of one file.
func (o Options) checkFolds(path string, files reader.Splits) error {
	switch {
	case o.Folds < 3:
		return fmt.Errorf("datasets: %d folds: want 3 or more, for training, validation and test", o.Folds)
	case o.Fold < 1 || o.Fold > o.Folds:
		return fmt.Errorf("datasets: fold %d of %d: want 1 to %d", o.Fold, o.Folds, o.Folds)
	case files[1].Path != "" || files[2].Path != "" || o.Vali != "" || o.Test != "":
		return fmt.Errorf("datasets: %s: folds are made of one file, but there are files of splits: %s",
			path, text.List(slices.DeleteFunc([]string{files[0].Path, cmp.Or(o.Vali, files[1].Path), cmp.Or(o.Test, files[2].Path)},
				func(s string) bool { return s == "" })))
	}
	return nil
}

// cacheKey is all that the splits depend on, except the content of their files.
func (o Options) cacheKey(files reader.Splits, holdOut float64) store.Key {
	k := store.Key{Read: reader.Options(o.Read), Schema: o.Read.Schema != nil, Unlabelled: o.Unlabelled, FeaturesOnly: o.FeaturesOnly}
	k.Read.Schema = nil // which cannot be compared
	switch {
	case o.Folds > 0:
		k.Folds, k.Fold, k.Seed = o.Folds, o.Fold, o.Seed
	case files[1].Path == "" && holdOut > 0:
		k.HoldOut, k.Seed = holdOut, o.Seed
	}
	return k
}
