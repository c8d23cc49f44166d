package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plrank/plrank/datasets/internal/cache"
	"github.com/plrank/plrank/datasets/internal/files"
	"github.com/plrank/plrank/datasets/internal/reading"
	"github.com/plrank/plrank/datasets/internal/table"
	"github.com/plrank/plrank/datasets/internal/text"
)

// ErrMinusOne is the error of [Open] if −1 is the only label below 1: it may stand for
// documents that are not relevant, or for those without a label.
var ErrMinusOne = errors.New(`−1 is the only label below 1: please say whether it means irrelevant or unlabelled`)

// ErrFolds is the error of [Open] for a folder of folds if Options.Fold is 0.
var ErrFolds = files.ErrFolds

// Folds lists the folds of a collection: the numbers of the folders Fold1, Fold2,
// … in a folder, ascending; none for a file or a folder without folds.
func Folds(path string) ([]int, error) { return files.Folds(path) }

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
// query must be in one file. If the names tell the number of files, all must be there.
//
// Without a validation file, 20 % of the training queries, drawn by the seed,
// are held out (10 % for Istella). Without a test file, Splits.Test is nil.
// Documents without a label are left out of all splits, with a warning; see also
// [ErrMinusOne]. All splits get the columns of the union of their feature ids. The
// counts of the known collections are checked; a warning says how they differ.
//
// With Options.Cache, the splits are written to a file as they are in memory, named
// .plrank-….cache. The next Open of the same files with the same options maps that file
// instead of reading text. The features then take no memory of the process, and Features,
// Labels and weights are read-only. A cache belongs to the content of the files: every byte
// of them is read for two checksums, at the speed of reading. A cache that is stale,
// truncated or corrupt is built anew; if one cannot be written, that is a warning. Data from
// a pipe are not cached. A cache may be deleted at any time, but not truncated while a
// program uses it. With a cache, reading a split of many files takes memory for one file at
// a time and some 30 bytes for each document; its features are on the disk twice until the
// cache is written.
//
// Errors are those of [ReadFile], and a folder without a training file.
func Open(path string, o Options) (*Splits, error) {
	if o.Unlabelled != "" && o.Unlabelled != "drop" && o.Unlabelled != "keep" {
		return nil, fmt.Errorf("datasets: invalid Options.Unlabelled %q: want drop or keep", o.Unlabelled)
	}
	of, known, err := o.find(path)
	if err != nil {
		return nil, err
	}
	holdOut := 0.2
	if known != nil && known.HoldOut > 0 {
		holdOut = known.HoldOut
	}
	read := func(scratch string) (cache.Splits, error) { return o.read(of, known, holdOut, scratch) }
	var data cache.Splits
	if o.Cache != "" {
		data, err = cache.Open(o.Cache, o.cacheKey(of, holdOut), of, read)
	} else {
		data, err = read("")
	}
	if err != nil {
		return nil, err
	}
	s := &Splits{Train: newDataset(data[0]), Vali: newDataset(data[1])}
	if data[2] != nil {
		s.Test = newDataset(data[2])
	}
	return s, nil
}

// find finds the files of the splits, and the known collection they belong to, or nil.
func (o Options) find(path string) (of files.Splits, known *files.Collection, err error) {
	finder := files.Finder{Endings: endings()}
	fold := o.Fold
	if o.Folds != 0 {
		fold = 0 // of the folder
	}
	if of, err = finder.Find(path, fold); err != nil {
		return of, nil, err
	}
	if o.Read.Groups != "" && (of.Train != path || of.Parts[0] != nil) {
		return of, nil, fmt.Errorf("datasets: %s is a folder, and a file of groups is for a single training file: name those of the splits as their files, such as %s",
			path, files.Groups(of.Train))
	}
	if o.Folds != 0 {
		if err := o.checkFolds(path, of); err != nil {
			return of, nil, err
		}
	}
	if of.Train != path && o.Vali == "" && o.Test == "" { // else it is not the whole collection
		known = finder.CollectionOf(of.Train)
	}
	for i, given := range []string{o.Vali, o.Test} {
		if given == "" {
			continue
		}
		*[]*string{&of.Vali, &of.Test}[i] = given
		if of.Parts[i+1], err = files.PartsOf(given); err != nil {
			return of, nil, err
		}
	}
	return of, known, nil
}

// checkFolds finds options and files that contradict folds of one file.
func (o Options) checkFolds(path string, of files.Splits) error {
	switch {
	case o.Folds < 3:
		return fmt.Errorf("datasets: %d folds: want 3 or more, for training, validation and test", o.Folds)
	case o.Fold < 1 || o.Fold > o.Folds:
		return fmt.Errorf("datasets: fold %d of %d: want 1 to %d", o.Fold, o.Folds, o.Folds)
	case of.Vali != "" || of.Test != "" || o.Vali != "" || o.Test != "":
		return fmt.Errorf("datasets: %s: folds are made of one file, but there are files of splits: %s",
			path, text.List(slices.DeleteFunc([]string{of.Train, cmp.Or(o.Vali, of.Vali), cmp.Or(o.Test, of.Test)}, func(s string) bool { return s == "" })))
	}
	return nil
}

// cacheKey is all that the splits depend on, except the content of their files.
func (o Options) cacheKey(of files.Splits, holdOut float64) cache.Key {
	k := cache.Key{Read: table.Options(o.Read), Unlabelled: o.Unlabelled}
	switch {
	case o.Folds > 0:
		k.Folds, k.Fold, k.Seed = o.Folds, o.Fold, o.Seed
	case of.Vali == "":
		k.HoldOut, k.Seed = holdOut, o.Seed
	}
	return k
}

// read reads the splits from their files. The features of a split of many files stay in
// temporary files in the folder of scratch, if one is given: see table.Source.
func (o Options) read(of files.Splits, known *files.Collection, holdOut float64, scratch string) (s cache.Splits, err error) {
	var tables [3]*table.Table
	defer func() {
		for _, t := range tables {
			if t != nil && (err != nil || t.Spilled == nil) {
				t.Free()
			}
		}
	}()
	ids := o.Read.FeatureIDs
	groups := &table.GroupNames{}
	queries, documents, minusOne, belowOne := 0, 0, 0, 0
	var names []string
	for i, file := range of.All() {
		if file == "" {
			continue
		}
		read := o.Read.reading()
		read.ChunkSize = o.chunkSize
		if i > 0 {
			read.Groups = ""
		}
		t, err := reading.Parts(file, of.Files(i), read, groups, scratch)
		if err != nil {
			return s, err
		}
		tables[i] = t
		names = append(names, file)
		for _, c := range t.Chunks {
			minusOne += c.MinusOne
			belowOne += c.BelowOne
		}
		queries += len(t.Queries)
		documents += t.Rows
		if o.Unlabelled != "keep" {
			if err := reading.DropUnlabelled(t); err != nil {
				return s, err
			}
		}
		if o.Read.FeatureIDs == nil {
			ids = table.Union(ids, t.IDs)
		}
		if i == 0 {
			o.Read = ReadOptions(table.Options(o.Read).ByNames(ids, t.Layout.Names))
		}
	}
	if minusOne > 0 && belowOne == 0 && o.Read.MinusOne == "" && o.Unlabelled != "keep" {
		return s, fmt.Errorf("datasets: %s: %w", strings.Join(names, ", "), ErrMinusOne)
	}
	train, vali, test := tables[0], tables[1], tables[2]
	if known != nil {
		if warning := known.Check(queries, documents); warning != "" {
			train.Warn("%s", warning)
		}
	}

	switch {
	case o.Folds > 0:
		s, err = fold(train, ids, o)
	case vali == nil:
		s, err = holdOutOf(train, ids, holdOut, o.Seed)
	default:
		if s[0], err = train.Data(ids, nil); err == nil {
			s[1], err = vali.Data(ids, nil)
		}
	}
	if err == nil && test != nil {
		s[2], err = test.Data(ids, nil)
	}
	return s, err
}
