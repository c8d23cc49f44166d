package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Splits are the parts of a collection. They have the same FeatureIDs.
type Splits struct {
	Train *Dataset
	Vali  *Dataset // held out of the training queries where the source has none
	Test  *Dataset // nil where the source has none
}

// Warnings are those of all splits.
func (s *Splits) Warnings() []string {
	var all []string
	for _, d := range s.all() {
		if d != nil {
			all = append(all, d.Warnings...)
		}
	}
	return all
}

func (s *Splits) all() [3]*Dataset { return [3]*Dataset{s.Train, s.Vali, s.Test} }

// Options says what Open opens, and how; the zero value opens the files that it finds.
type Options struct {
	Read ReadOptions // how to read the files; FeatureIDs, if given, are the columns of all splits, and Groups is for the training file
	Vali string      // the file of the validation split, instead of the one found or held out
	Test string      // the file of the test split, instead of the one found
	Fold int         // the fold of a folder that holds Fold1, Fold2, …, or one of Folds; 0: the path itself
	Seed uint64      // draws the training queries that are held out for validation, and those of each fold

	// Folds, 3 or more, is for cross-validation from one file: its queries are dealt
	// to so many parts of one size, and Fold (from 1) tells which of them is the test
	// split. The next one (after the last: the first) is the validation split, and
	// the others are the training split, as in the folds of LETOR.
	Folds int

	// Unlabelled says what to do with documents without a label: "drop" (or
	// empty) leaves them out of the splits, "keep" keeps them.
	Unlabelled string

	// Cache is a folder for binary copies of what was opened, CacheAuto, or empty
	// for none. See Open.
	Cache string
}

// ErrMinusOne is the error of [Open] where −1 is the only label below 1: it may stand
// for documents that are not relevant, or for those without a label.
var ErrMinusOne = errors.New(`−1 is the only label below 1: please say whether it means irrelevant or unlabelled`)

// Open reads the splits of a collection. The path is a file, which becomes the
// training split, or a folder with a file for each split. Such a file is named
// after its split (train, training, trainingset; vali, valid, validation,
// validationset, val, dev; test, testing, testset; in any letter case),
// with a prefix that all share before it ("rank.", "set1."), and at most one of
// the endings .txt .dat .data .svm .svmlight .libsvm .letor .csv .tsv after it,
// and .gz or .zst. Where a folder has several prefixes, folder/prefix chooses.
// A folder of folds (Fold1, …) needs Options.Fold; see Folds.
//
// A split may also be in many parts, of any of the formats: the files of a folder named
// after the split, in the order of the numbers in their names, without those that begin
// with a dot or an underscore; or files such as train-00003-of-00010.txt, train.7.csv.gz or
// train.part-7.zst; Options.Vali and Options.Test may be such folders. A folder of files such as part-00003.csv alone is a training
// split. All documents of a query must be in one part. Where the names say how many parts
// there are, all must be there.
//
// Without a validation file, 20 % of the training queries, drawn by the seed,
// are held out (10 % for Istella). Without a test file, Splits.Test is nil.
// Documents without a label are left out of all splits, with a warning; see also
// [ErrMinusOne]. All splits get the columns of the union of their feature ids. The
// counts of the known collections are checked; a warning says how they differ.
//
// With Options.Cache, the splits are written to a file as they are in memory,
// named .plrank-….cache. The next Open of the same files with the same options
// maps that file instead of reading text: it takes no memory of its own, and
// Features, Labels and weights are then read-only. A cache belongs to the content of the
// files, every byte of which is read for two checksums, by the speed of reading; one that is
// stale, truncated or corrupt is built anew, and one that cannot be written is a warning.
// What comes from a pipe is not cached. It may be deleted at
// any time, but not cut short while a program uses it. Data in many parts then need
// memory for one part at a time, and for some 30 bytes a document, but no more; their
// features take their space on the disk twice until the cache is written.
//
// Errors are those of ReadFile, and a folder without a training file.
func Open(path string, o Options) (*Splits, error) {
	if o.Unlabelled != "" && o.Unlabelled != "drop" && o.Unlabelled != "keep" {
		return nil, fmt.Errorf("datasets: unknown way with unlabelled documents %q: want drop or keep", o.Unlabelled)
	}
	fold := o.Fold
	if o.Folds != 0 {
		fold = 0 // of the folder
	}
	files, err := findFiles(path, fold)
	if err != nil {
		return nil, err
	}
	if o.Read.Groups != "" && (files.train != path || files.parts[0] != nil) {
		return nil, fmt.Errorf("datasets: %s is a folder, and a file of groups is for a single training file: name those of the splits as their files, such as %s",
			path, groupsPath(files.train))
	}
	if o.Folds != 0 {
		switch {
		case o.Folds < 3:
			return nil, fmt.Errorf("datasets: %d folds: want 3 or more, for training, validation and test", o.Folds)
		case o.Fold < 1 || o.Fold > o.Folds:
			return nil, fmt.Errorf("datasets: fold %d of %d: want 1 to %d", o.Fold, o.Folds, o.Folds)
		case files.vali != "" || files.test != "" || o.Vali != "" || o.Test != "":
			return nil, fmt.Errorf("datasets: %s: folds are made of one file, but there are files of splits: %s",
				path, listNames(slices.DeleteFunc([]string{files.train, cmp.Or(o.Vali, files.vali), cmp.Or(o.Test, files.test)}, func(s string) bool { return s == "" })))
		}
	}
	var known *collection
	if files.train != path && o.Vali == "" && o.Test == "" { // else it is only a part of one
		known = collectionOf(files.train)
	}
	for i, given := range []string{o.Vali, o.Test} {
		if given == "" {
			continue
		}
		*[]*string{&files.vali, &files.test}[i] = given
		if files.parts[i+1], err = partsOf(given); err != nil {
			return nil, err
		}
	}

	holdOut := 0.2
	if known != nil && known.holdOut > 0 {
		holdOut = known.holdOut
	}
	if o.Cache != "" {
		return openCached(files, known, holdOut, o)
	}
	return open(files, known, holdOut, o, "")
}

// open reads the splits from their files. Where the training split has many, and there is
// a folder for scratch, the features of the splits are still on their way: see rowSource.
func open(files splitFiles, known *collection, holdOut float64, o Options, scratch string) (_ *Splits, err error) {
	var tables [3]*table
	defer func() {
		for _, t := range tables {
			if t != nil && (err != nil || t.spilled == nil) {
				t.free()
			}
		}
	}()
	ids := o.Read.FeatureIDs
	groups := &groupNumbers{}
	queries, documents, minusOne, belowOne := 0, 0, 0, 0
	var names []string
	for i, file := range files.all() {
		if file == "" {
			continue
		}
		read := o.Read
		if i > 0 {
			read.Groups = ""
		}
		t, err := readParts(file, files.files(i), read, groups, scratch)
		if err != nil {
			return nil, err
		}
		tables[i] = t
		names = append(names, file)
		for _, c := range t.chunks {
			minusOne += c.minusOne
			belowOne += c.belowOne
		}
		queries += len(t.queries)
		documents += t.rows
		if o.Unlabelled != "keep" {
			if err := t.dropUnlabelled(); err != nil {
				return nil, err
			}
		}
		if o.Read.FeatureIDs == nil {
			ids = union(ids, t.ids)
		}
		if i == 0 {
			o.Read = o.Read.byNames(ids, t.layout)
		}
	}
	if minusOne > 0 && belowOne == 0 && o.Read.MinusOne == "" && o.Unlabelled != "keep" {
		return nil, fmt.Errorf("datasets: %s: %w", strings.Join(names, ", "), ErrMinusOne)
	}
	train, vali, test := tables[0], tables[1], tables[2]
	if known != nil {
		if warning := known.check(queries, documents); warning != "" {
			train.warn("%s", warning)
		}
	}

	s := &Splits{}
	if o.Folds > 0 {
		err = train.fold(s, ids, o)
	} else if vali == nil {
		err = train.holdOut(s, ids, holdOut, o.Seed)
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

// holdOut makes the training and the validation split of a table, the second with
// the given part of its queries.
func (t *table) holdOut(s *Splits, ids []int, part float64, seed uint64) error {
	n := len(t.queries)
	held := max(1, int(part*float64(n)))
	if n < 2 {
		return fmt.Errorf("datasets: %s: one query cannot be split into training and validation queries: please name a validation file", t.path)
	}
	order := rand.New(rand.NewPCG(seed, 0x686f6c64)).Perm(n)
	parts, err := t.split(ids, order[:n-held], order[n-held:])
	if err != nil {
		return err
	}
	s.Train, s.Vali = parts[0], parts[1]
	s.Vali.Name += fmt.Sprintf(" (%d queries held out)", held)
	return nil
}

// fold makes the splits of one fold of a table; see Options.Folds.
func (t *table) fold(s *Splits, ids []int, o Options) error {
	n := len(t.queries)
	if n < o.Folds {
		return fmt.Errorf("datasets: %s: %d queries cannot be dealt to %d folds", t.path, n, o.Folds)
	}
	order := rand.New(rand.NewPCG(o.Seed, 0x666f6c64)).Perm(n)
	part := func(i int) []int { return order[i*n/o.Folds : (i+1)*n/o.Folds] }
	test, vali := o.Fold-1, o.Fold%o.Folds
	var train []int
	for i := range o.Folds {
		if i != test && i != vali {
			train = append(train, part(i)...)
		}
	}
	parts, err := t.split(ids, train, slices.Clone(part(vali)), slices.Clone(part(test)))
	if err != nil {
		return err
	}
	s.Train, s.Vali, s.Test = parts[0], parts[1], parts[2]
	for i, d := range parts {
		d.Name += fmt.Sprintf(" (fold %d of %d: %s)", o.Fold, o.Folds, [3]string{"train", "vali", "test"}[i])
	}
	return nil
}

// split makes a dataset of each list of queries, which it sorts. They share one
// matrix, so that nothing is in memory twice. The first has the warnings.
func (t *table) split(ids []int, queries ...[]int) ([]*Dataset, error) {
	for _, part := range queries {
		slices.Sort(part)
	}
	all, err := t.dataset(ids, slices.Concat(queries...))
	if err != nil {
		return nil, err
	}
	var parts []*Dataset
	from := 0
	for i, part := range queries {
		d := all.view(from, from+len(part))
		from += len(part)
		if i > 0 {
			d.Warnings = nil
		}
		parts = append(parts, d)
	}
	return parts, nil
}
