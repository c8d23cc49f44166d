package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/cmd/internal/columns"
	"github.com/plrank/plrank/datasets"
	_ "github.com/plrank/plrank/datasets/parquet" // so that all commands read it
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/losses"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/ranker"
	"github.com/plrank/plrank/train"
	"github.com/plrank/plrank/transforms"
)

// A Source names a collection on disk, or a synthetic one.
type Source struct {
	Data  string  `json:"data"` // a file, a folder, or synthetic:SHAPE or synthetic:SHAPE/TRUTH
	Vali  string  `json:"vali,omitempty"`
	Test  string  `json:"test,omitempty"`
	Fold  int     `json:"fold,omitempty"`  // of the folder of folds Data; 0: Data is not one
	Scale float64 `json:"scale,omitempty"` // of a synthetic collection; 0: 0.005
	Reading

	cache string               // a folder, userCache or noCache; "": none
	known datasets.ReadOptions // the roles of columns, and the categories by name, that models know, see Know
}

// Reading says how files are read.
type Reading struct {
	Duplicates     string `json:"duplicates,omitempty"`
	MinusOne       string `json:"minusOne,omitempty"`
	Headerless     bool   `json:"headerless,omitempty"`
	Missing        string `json:"missing,omitempty"`
	LabelColumn    string `json:"labelColumn,omitempty"`
	QueryColumn    string `json:"queryColumn,omitempty"`
	DocumentColumn string `json:"documentColumn,omitempty"`
	WeightColumn   string `json:"weightColumn,omitempty"`
	BaseColumn     string `json:"baseColumn,omitempty"`
	GroupColumn    string `json:"groupColumn,omitempty"`
	Intents        string `json:"intents,omitempty"`
	Subtopics      string `json:"subtopics,omitempty"`
	Features       string `json:"features,omitempty"`
	Ignore         string `json:"ignore,omitempty"`
	Vectors        string `json:"vectors,omitempty"`
}

const (
	syntheticPrefix = "synthetic:"
	defaultScale    = 0.005

	userCache = "user"
	noCache   = "off"
)

// Flags returns the flags; their defaults are what s holds. Absent says what it means if there is no -data.
func (s *Source) Flags(absent string) Flags {
	return slices.Concat(Flags{
		{Name: "data", Value: &s.Data, Resumable: true,
			Help: "a `file`; a folder of train, vali and test files or of folds; or synthetic:SHAPE[/TRUTH], in the shape of " +
				strings.Join(datasets.SyntheticShapes(), ", ") + ", labels by " + strings.Join(datasets.SyntheticTruths(), ", ") + absent},
		{Name: "scale", Value: &s.Scale, Topic: "splits", Help: fmt.Sprintf("the `fraction` of the queries of the published collection that "+
			"synthetic:SHAPE has; 0 stands for %v", defaultScale)},
		{Name: "vali", Value: &s.Vali, Topic: "splits", Resumable: true,
			Help: "the `file` of the validation split, or a folder of its parts; without any, 20 % of the training queries are held out"},
		{Name: "test", Value: &s.Test, Topic: "splits", Resumable: true, Help: "the `file` of the test split, or a folder of its parts"},
		{Name: "fold", Value: &s.Fold, Topic: "splits",
			Help: "`number` of the fold to take, where -data is a folder of folds Fold1, Fold2, …"},
	}, s.ReadingFlags(), s.trainingFlags())
}

// ReadingFlags returns the flags for how a file is read, whatever for.
func (s *Source) ReadingFlags() Flags {
	s.Duplicates = cmp.Or(s.Duplicates, "error")
	return s.ofFiles(
		Flag{Name: "duplicates", Value: &s.Duplicates, Topic: "formats",
			Help: "`what` to do with a second value for a feature in one line: error, or last, by which the last one counts"},
		Flag{Name: "headerless", Value: &s.Headerless, Topic: "formats",
			Help: "separated values have no header: their columns are called 1, 2, …, and the first is the label unless -label-column is given"},
		Flag{Name: "missing", Value: &s.Missing, Topic: "formats",
			Help: "`words` that stand for a missing value in features that are numbers, such as n/a,None,-; a warning lists the known ones " +
				"that are found"},
		Flag{Name: "label-column", Value: &s.LabelColumn, Topic: "formats",
			Help: "`column` of the labels in separated values, by name; without it, the one of the model, or else a usual name, where no other " +
				"column could be meant"},
		Flag{Name: "query-column", Value: &s.QueryColumn, Topic: "formats", Help: "`column` of the query ids, likewise"},
		Flag{Name: "document-column", Value: &s.DocumentColumn, Topic: "formats", Help: "`column` of the document ids, likewise"},
		Flag{Name: "base-column", Value: &s.BaseColumn, Topic: "formats",
			Help: "`column` of the base scores of documents, from another ranker, to which the model adds its own; without it, they are in a " +
				"file named FILE.init next to the data, one a line, if there is one"},
		Flag{Name: "features", Value: &s.Features, Topic: "features",
			Help: "the `features` to use, by name, pattern or id, such as price,bm25*,17; without it, all. LETOR text has names in a file " +
				"named FILE.names next to the data, with lines such as 3 bm25"},
		Flag{Name: "ignore", Value: &s.Ignore, Topic: "features",
			Help: "`features` to leave out, in the same way; columns of text are left out with a warning"},
		Flag{Name: "vector", Value: &s.Vectors, Topic: "features",
			Help: "the `columns` of text that hold vectors, such as [0.1, 0.2]; columns of lists are vectors without it. NAME=FILE is a vector in " +
				"a file of its own: a table with a column of query ids or of document ids, or a .npy array with ids in FILE.ids. " +
				"Inputs are then products of vectors of one dimension that validation chooses, unless -transform names some"},
	)
}

// trainingFlags returns the flags for what is read to train or measure, which have no meaning where documents are only scored.
func (s *Source) trainingFlags() Flags {
	return s.ofFiles(
		Flag{Name: "minus-one", Value: &s.MinusOne, Topic: "formats",
			Help: "`what` a label of −1 means: unlabelled, by which the document is left out, or irrelevant, as in SVMrank's files, by which it " +
				"is 0; without it, unlabelled where other labels are below 1"},
		Flag{Name: "weight-column", Value: &s.WeightColumn, Topic: "formats",
			Help: "`column` of the weights of documents in separated values; without it, the weights of documents or of queries are in a file " +
				"named FILE.weight next to the data, one a line, if there is one"},
		Flag{Name: "group-column", Value: &s.GroupColumn, Topic: "fairness",
			Help: "`column` of the groups of documents, for fairness, which is then not a feature; without it, they are in a file named " +
				"FILE.groups next to the data, one a line, if there is one",
			Idle: func(u *train.Use) string {
				if u.Splits != nil || u.Learned(func(t losses.Term) bool { return t.Vectors }, "") == "" { // with splits, it is not a feature
					return ""
				}
				return u.Measured(func(m metrics.Measure) bool { return m.NeedsGroups() || m.NeedsVectors() },
					"losses and metrics that compare groups, such as -report exposure-ratio")
			}},
		Flag{Name: "intents", Value: &s.Intents, Topic: "fairness",
			Help: "the `columns`, with commas between, whose numbers above 0 say that a document is relevant to an intent of its query, for " +
				"alpha-ndcg and err-ia; they are then not features"},
		Flag{Name: "subtopics", Value: &s.Subtopics, Topic: "fairness",
			Help: "a `file` of TREC judgements of subtopics, lines of \"qid subtopic docid label\", with the intents of the documents of all " +
				"splits",
			Idle: func(u *train.Use) string {
				if u.Learned(func(t losses.Term) bool { return t.Intents || t.Vectors }, "") == "" {
					return ""
				}
				return u.Measured(func(m metrics.Measure) bool { return m.NeedsIntents() || m.NeedsVectors() },
					"losses and metrics by intents, such as -report alpha-ndcg")
			}},
	)
}

// ofFiles returns flags that have an effect only if a file is read.
func (s *Source) ofFiles(list ...Flag) Flags {
	Flags(list).AlsoIdle(func(*train.Use) string {
		if s.Data != "" && !s.Synthetic() {
			return ""
		}
		return "without -data FILE or FOLDER: it is for what is read"
	}, Flags(list).Names()...)
	return list
}

// CacheFlag returns the flag -cache, for sub-commands that read the same data more than once.
func (s *Source) CacheFlag() Flags {
	s.cache = cmp.Or(s.cache, userCache)
	return s.ofFiles(Flag{Name: "cache", Value: &s.cache, Topic: "splits", Resumable: true,
		Help: "`folder` for binary copies of what was read, which open several times sooner the next time: user is plrank in your cache " +
			"folder, off is none"})
}

// UseCacheOf takes the cache of another source, which its flag names.
func (s *Source) UseCacheOf(other Source) { s.cache = other.cache }

// cacheFolder returns the folder that -cache stands for, "" if none. The default is not next to the data: what a user
// downloaded, or may only read, stays as it is.
func (s *Source) cacheFolder() string {
	switch s.cache {
	case noCache:
		return ""
	case userCache:
		folder, err := os.UserCacheDir()
		if err != nil {
			return "" // a user without a home
		}
		return filepath.Join(folder, "plrank")
	}
	return s.cache
}

// Check returns an error for flags that make no sense, alone or together.
func (s *Source) Check() error {
	split := s.Vali != "" || s.Test != "" || s.Fold != 0
	groups := s.GroupColumn != "" || s.Intents != "" || s.Subtopics != ""
	shape, truth, hasTruth := strings.Cut(strings.TrimPrefix(s.Data, syntheticPrefix), "/")
	return cmp.Or(
		ErrorIf(s.Duplicates != "error" && s.Duplicates != "last", "-duplicates %q: want error or last", s.Duplicates),
		ErrorIf(s.MinusOne != "" && s.MinusOne != "unlabelled" && s.MinusOne != "irrelevant", "-minus-one %q: want unlabelled or irrelevant",
			s.MinusOne),
		ErrorIf(s.Data == "" && split, "-vali, -test and -fold need -data"),
		ErrorIf(s.Data == "" && groups, "-group-column, -intents and -subtopics need -data"),
		ErrorIf(s.Intents != "" && s.Subtopics != "", "-intents and -subtopics exclude each other"),
		ErrorIf(s.Synthetic() && (split || groups), "%s is made with all its splits, without folds, groups or intents: -vali, -test, -fold, "+
			"-group-column, -intents and -subtopics have no meaning with it", s.Data),
		ErrorIf(s.Synthetic() && !slices.Contains(datasets.SyntheticShapes(), shape), "-data %s: %s after %s", s.Data,
			names.Want(shape, datasets.SyntheticShapes()), syntheticPrefix),
		ErrorIf(s.Synthetic() && hasTruth && !slices.Contains(datasets.SyntheticTruths(), truth), "-data %s: %s after %s%s/", s.Data,
			names.Want(truth, datasets.SyntheticTruths()), syntheticPrefix, shape),
		ErrorIf(s.Scale != 0 && !s.Synthetic(), "-scale is for -data synthetic:SHAPE"),
		ErrorIf(!(s.Scale >= 0 && s.Scale <= 1), "-scale %v: want a fraction in (0, 1]", s.Scale),
		ErrorIf(s.Fold < 0, "-fold %d: folds count from 1", s.Fold),
	)
}

// Synthetic reports whether the collection is made, not read.
func (s *Source) Synthetic() bool { return strings.HasPrefix(s.Data, syntheticPrefix) }

// SingleFile reports whether the data are one file, without others for its splits.
func (s *Source) SingleFile() bool {
	info, err := os.Stat(s.Data)
	return err == nil && !info.IsDir() && s.Vali == "" && s.Test == "" && s.Fold == 0
}

// Options returns the options for the flags, until the context is done. The features, the roles of columns and what labels are for are as
// wanted, completed by what models know.
func (s *Source) Options(ctx context.Context, wanted datasets.ReadOptions) datasets.ReadOptions {
	o, r := wanted, s.Reading
	o.Context, o.Schema = ctx, columns.Find
	o.Duplicates, o.MinusOne, o.Headerless, o.Missing = r.Duplicates, r.MinusOne, r.Headerless, command.Words(r.Missing)
	o.LabelColumn, o.QueryColumn, o.DocumentColumn = r.LabelColumn, r.QueryColumn, r.DocumentColumn
	o.WeightColumn, o.BaseColumn, o.GroupColumn = r.WeightColumn, r.BaseColumn, r.GroupColumn
	o.Intents, o.Subtopics = command.Words(r.Intents), r.Subtopics
	o.Features, o.Ignore = command.Words(r.Features), command.Words(r.Ignore)
	o.Vectors = slices.Clone(wanted.Vectors)
	for _, word := range command.Words(r.Vectors) {
		name, file, _ := strings.Cut(word, "=")
		at := slices.IndexFunc(o.Vectors, func(v transforms.Vector) bool { return v.Name == name })
		switch {
		case at >= 0: // a model knows no files
			o.Vectors[at].File = file
		case wanted.FeatureIDs == nil:
			o.Vectors = append(o.Vectors, transforms.Vector{Name: name, File: file})
		}
	}
	s.complete(&o)
	return o
}

// Open reads or makes the collection, until the context is done, and prints the warnings. It takes Seed, Folds and
// Unlabelled from o, and from o.Read the features that are wanted, and what labels are for.
func (s *Source) Open(ctx context.Context, o datasets.Options, stderr io.Writer) (*datasets.Splits, error) {
	if shape, ok := strings.CutPrefix(s.Data, syntheticPrefix); ok {
		return datasets.SyntheticShape(shape, cmp.Or(s.Scale, defaultScale), o.Seed)
	}
	o.Read = s.Options(ctx, o.Read)
	o.Vali, o.Test, o.Fold, o.Cache = s.Vali, s.Test, s.Fold, s.cacheFolder()
	splits, err := datasets.Open(s.Data, o)
	if err != nil {
		return nil, WithFlags(err)
	}
	command.Warn(stderr, splits.Warnings()...)
	return splits, nil
}

// Measured reads the data for measures: the splits of a collection, or a single file, whole, as the split data.
func (s *Source) Measured(ctx context.Context, o datasets.Options, stderr io.Writer) ([]train.Split, error) {
	from, single := *s, s.SingleFile()
	if single {
		from.Vali = from.Data // so that nothing is held out
	}
	splits, err := from.Open(ctx, o, stderr)
	if err != nil {
		return nil, err
	}
	LimitGarbage()
	if single {
		return []train.Split{{Name: "data", Data: splits.Train}}, nil
	}
	return Named(splits), nil
}

// Named returns the splits that there are, with their names.
func Named(s *datasets.Splits) (list []train.Split) {
	for i, d := range []*datasets.Dataset{s.Train, s.Vali, s.Test} {
		if d != nil {
			list = append(list, train.Split{Name: []string{"train", "vali", "test"}[i], Data: d})
		}
	}
	return list
}

// ReadFile reads the file of data, whole, until the context is done, and prints the warnings. It takes from wanted the
// features, the roles of columns, and what labels are for.
func (s *Source) ReadFile(ctx context.Context, wanted datasets.ReadOptions, stderr io.Writer) (*datasets.Dataset, error) {
	d, err := datasets.ReadFile(s.Data, s.Options(ctx, wanted))
	if err != nil {
		return nil, WithFlags(err)
	}
	command.Warn(stderr, d.Warnings...)
	return d, nil
}

// Know makes what models know of columns known for all that is read: models of other libraries do not know the labels and ids, and
// scores have no columns. Weights and base scores are of one model. A role that several models know is the first one's, where
// another does not know it.
func (s *Source) Know(models ...*ranker.Model) {
	s.known.Roles = map[string]string{}
	for _, m := range models {
		for role, column := range Without(datasets.OptionsFor(m), "weight", "base").Roles {
			s.known.Roles[role] = cmp.Or(s.known.Roles[role], column)
		}
		for c, levels := range m.Levels() {
			if names := m.FeatureNames(); levels != nil && names != nil && !slices.Contains(s.known.Categorical, names[c]) {
				s.known.Categorical = append(s.known.Categorical, names[c])
			}
		}
	}
}

// complete adds to options what models know. A column that is a feature, or has a role, by the options has no other.
func (s *Source) complete(o *datasets.ReadOptions) {
	if s.known.Roles == nil {
		return
	}
	taken := slices.AppendSeq(slices.Clone(o.FeatureNames), maps.Values(o.Roles))
	for _, id := range o.FeatureIDs {
		if !o.Headerless { // whose columns have numbers of their own
			taken = append(taken, strconv.Itoa(id))
		}
	}
	roles := maps.Clone(s.known.Roles)
	maps.DeleteFunc(roles, func(_, column string) bool { return slices.Contains(taken, column) })
	maps.Copy(roles, o.Roles)
	if o.Roles = roles; o.FeatureIDs == nil {
		o.Categorical = append(o.Categorical, s.known.Categorical...)
	}
}

// Without returns the options of a model with the columns of these roles left out. Nothing warns of them.
func Without(o datasets.ReadOptions, roles ...string) datasets.ReadOptions {
	for _, role := range roles {
		if column := o.Roles[role]; column != "" {
			delete(o.Roles, role)
			o.Unasked = append(o.Unasked, column)
		}
	}
	return o
}

// WithFlags adds to an error the flags that help.
func WithFlags(err error) error {
	for _, hint := range []struct {
		is    error
		flags string
	}{
		{datasets.ErrFolds, "such as -fold 1"},
		{datasets.ErrMinusOne, "-minus-one irrelevant, or -minus-one unlabelled"},
		{train.ErrNoGroups, "-group-column, or a file named FILE.groups next to each FILE of data"},
		{metrics.ErrHighLabel, "-gain linear"},
	} {
		if errors.Is(err, hint.is) {
			return fmt.Errorf("%w (%s)", err, hint.flags)
		}
	}
	return err
}
