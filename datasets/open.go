package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// Options says what Open opens, and how; the zero value: what it finds.
type Options struct {
	Read ReadOptions // how to read the files; FeatureIDs, if given, are the columns of all splits, and Groups is for the training file
	Vali string      // the file of the validation split, instead of the one found or held out
	Test string      // the file of the test split, instead of the one found
	Fold int         // the fold of a folder that holds Fold1, Fold2, …; 0: the folder itself
	Seed uint64      // draws the training queries that are held out for validation

	// Unlabelled says what to do with documents without a label: "drop" (or
	// empty) leaves them out of the splits, "keep" keeps them.
	Unlabelled string

	// Cache is a folder for binary copies of what was opened, CacheAuto, or empty
	// for none. See Open.
	Cache string
}

// Open reads the splits of a collection. The path is a file, which becomes the
// training split, or a folder with a file for each split. Such a file is named
// after its split (train, training, trainingset; vali, valid, validation,
// validationset, val, dev; test, testing, testset; in any letter case),
// with a prefix that all share before it ("rank.", "set1."), and at most one of
// the endings .txt .dat .data .svm .svmlight .libsvm .letor .csv .tsv after it,
// and .gz or .zst. Where a folder has several prefixes, folder/prefix chooses.
// A folder of folds (Fold1, …) needs Options.Fold; see Folds.
//
// Without a validation file, 20 % of the training queries, drawn by the seed,
// are held out (10 % for Istella). Without a test file, Splits.Test is nil.
// Documents without a label are left out of all splits, with a warning. All
// splits get the columns of the union of their feature ids. The counts of the
// known Collections are checked; a warning says how they differ.
//
// With Options.Cache, the splits are written to a file as they are in memory,
// named .plrank-….cache. The next Open of the same files with the same options
// maps that file instead of reading text: it takes no memory of its own, and
// Features and Labels are then read-only. A cache belongs to the size, the time
// and the content of the files; one that is stale, truncated or corrupt is
// built anew, and one that cannot be written is a warning. It may be deleted at
// any time, but not cut short while a program uses it.
//
// Errors are those of ReadFile, and a folder without a training file.
func Open(path string, o Options) (*Splits, error) {
	if o.Unlabelled != "" && o.Unlabelled != "drop" && o.Unlabelled != "keep" {
		return nil, fmt.Errorf("datasets: unknown way with unlabelled documents %q: want drop or keep", o.Unlabelled)
	}
	files, err := findFiles(path, o.Fold)
	if err != nil {
		return nil, err
	}
	if o.Read.Groups != "" && files.train != path {
		return nil, fmt.Errorf("datasets: %s is a folder, and a file of groups is for a single training file: name those of the splits as their files, such as %s",
			path, groupsPath(files.train))
	}
	var known *Collection
	if files.train != path && o.Vali == "" && o.Test == "" { // else it is only a part of one
		known = collectionOf(files.train)
	}
	if o.Vali != "" {
		files.vali = o.Vali
	}
	if o.Test != "" {
		files.test = o.Test
	}

	holdOut := 0.2
	if known != nil && known.HoldOut > 0 {
		holdOut = known.HoldOut
	}
	if o.Cache != "" {
		return openCached(files, known, holdOut, o)
	}
	return open(files, known, holdOut, o)
}

// open reads the splits from their files.
func open(files splitFiles, known *Collection, holdOut float64, o Options) (*Splits, error) {
	var tables [3]*table
	defer func() {
		for _, t := range tables {
			if t != nil {
				t.free()
			}
		}
	}()
	ids := o.Read.FeatureIDs
	groups := &groupNumbers{}
	queries, documents := 0, 0
	for i, file := range files.all() {
		if file == "" {
			continue
		}
		read := o.Read
		if i > 0 {
			read.Groups = ""
		}
		t, err := readTable(file, read, groups)
		if err != nil {
			return nil, err
		}
		tables[i] = t
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
		if i == 0 && t.header != nil && o.Read.FeatureIDs == nil { // the others by the names of these
			o.Read.FeatureIDs = ids
			for _, id := range ids {
				o.Read.FeatureNames = append(o.Read.FeatureNames, t.header.names[id])
			}
		}
	}
	train, vali, test := tables[0], tables[1], tables[2]
	if known != nil {
		if warning := known.check(queries, documents); warning != "" {
			train.warn("%s", warning)
		}
	}

	s := &Splits{}
	var err error
	if vali == nil {
		s.Train, s.Vali, err = train.holdOut(ids, holdOut, o.Seed)
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

// holdOut makes two datasets of a table, the second with the given part of its
// queries. They share one matrix, so that nothing is in memory twice.
func (t *table) holdOut(ids []int, part float64, seed uint64) (train, vali *Dataset, err error) {
	n := len(t.queries)
	held := max(1, int(part*float64(n)))
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
