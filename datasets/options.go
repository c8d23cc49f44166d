package datasets

// Options says what Open opens, and how; the zero value opens the files that it finds.
type Options struct {
	Read ReadOptions // how to read the files; FeatureIDs, if given, are the columns of all splits, and Groups is for the training file
	Vali string      // the file of the validation split, instead of the one found or held out
	Test string      // the file of the test split, instead of the one found
	Fold int         // the fold of a folder with Fold1, Fold2, …, or one of Folds; 0: the path itself
	Seed uint64      // draws the training queries that are held out for validation, and those of each fold

	// Folds, 3 or more, is for cross-validation on one file. Its queries are dealt to so
	// many folds of equal size. Fold (from 1) is the test split, the next one (after the
	// last: the first) is the validation split, and the others are the training split, as
	// in LETOR.
	Folds int

	// Unlabelled says what happens to documents without a label: "drop" (or empty)
	// leaves them out of the splits, "keep" keeps them.
	Unlabelled string

	// Cache is a folder for binary copies of the splits; see Open. With "auto" they are
	// beside the data, or, if that folder cannot be written, in the user's cache folder.
	// Empty: there are none.
	Cache string

	chunkSize int // see reading.Options
}
