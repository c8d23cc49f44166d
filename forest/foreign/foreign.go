// Package foreign reads the models of other libraries: forests in the text files of LightGBM, the JSON, UBJ and JSON dumps of
// XGBoost, and the JSON files of CatBoost; forests and linear models of RankLib, of Solr, and of the plugins of Elasticsearch and
// OpenSearch. Their scores are what the libraries compute before any link function: raw_score of LightGBM, output_margin of XGBoost,
// RawFormulaVal of CatBoost. A random forest of LightGBM has the mean of its trees, whose sum is raw_score. Of XGBoost all trees count,
// as in Booster.predict, but in the file of a scikit-learn estimator those up to its best iteration.
//
// It writes forests for Solr, Elasticsearch and OpenSearch.
package foreign

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plrank/plrank/forest"
	"github.com/plrank/plrank/internal/filekind"
	"github.com/plrank/plrank/internal/text"
)

// A Model is a forest or a linear model of another library, and what its columns are. It is safe for concurrent use.
type Model struct {
	Library   string   // LightGBM, XGBoost, CatBoost, RankLib, Solr or Elasticsearch
	Objective string   // as the library calls it; "" if the file does not say
	Warnings  []string // what may not be as the user expects

	Forest  *forest.Forest // of a linear model, one without trees
	Weights []float64      // of the features of a linear model, for which a missing value is 0; nil: a forest
	Bias    float64        // of a linear model

	IDs    []int      // of the features, ascending
	Names  []string   // of the features, or nil: they have none
	Levels [][]string // of the features whose values are text, nil for others: see datasets.Dataset.Levels; nil: there are none

	NumberLevels []int // the ids of those whose categories are numbers, or true and false, in the file: see datasets.Dataset.NumberLevels

	// Categories are the ones that the training data had, by column, of columns whose categories are whole numbers, where the file
	// says them.
	Categories map[int]map[float32]bool

	// Numbering says how the columns got their IDs where their names do not say it, else it is "".
	Numbering string

	scorer  *forest.Scorer
	numbers []int // columns of NumberLevels
	edits   []edit
	first   int // id of the first column, if names do not say it
}

// An edit changes the values of a column to what the nodes of the forest expect.
type edit struct {
	column int
	shift  float32 // subtracted: the lowest category is negative
	cut    bool    // fractions of categories do not count
	above  float32 // which are above this value
	tiny   bool    // what LightGBM takes for zero becomes 0
}

func (e edit) apply(v float32) float32 {
	if e.tiny && math.Abs(float64(v)) <= zeroThreshold {
		return 0
	}
	if e.cut && v > e.above {
		v = float32(math.Trunc(float64(v)))
	}
	return v - e.shift
}

// addEdits adds edits for zeros that are missing, and for categories above a value, which are cut to whole numbers.
func (m *Model) addEdits(values map[int][]int, above float32) {
	edits := map[int]edit{}
	for _, t := range m.Forest.Trees {
		for _, n := range t.Nodes {
			e := edits[n.Column]
			e.tiny = e.tiny || n.ZeroMissing
			e.cut = e.cut || n.Set != nil && values[n.Column] == nil
			edits[n.Column] = e
		}
	}
	for c := range m.Forest.Inputs {
		if e := edits[c]; e.tiny || e.cut {
			e.column, e.above = c, above
			m.edits = append(m.edits, e)
		}
	}
}

// Score sets dst to the scores of len(dst) documents, whose raw features are rows, one document after another. Infinite
// values, too, get the scores that the library gives them.
func (m *Model) Score(dst []float64, rows []float32) {
	if m.Weights != nil {
		for i := range dst {
			dst[i] = m.Bias
			for c, x := range rows[i*len(m.Weights):][:len(m.Weights)] {
				if x == x {
					dst[i] += m.Weights[c] * float64(x)
				}
			}
		}
		return
	}
	m.scorer.Score(dst, m.Inputs(rows))
}

// Inputs returns what the nodes of the forest expect for raw features: rows itself if these need no change.
func (m *Model) Inputs(rows []float32) []float32 {
	if len(m.edits) == 0 {
		return rows
	}
	rows = slices.Clone(rows)
	for _, e := range m.edits {
		for i := e.column; i < len(rows); i += m.Forest.Inputs {
			rows[i] = e.apply(rows[i])
		}
	}
	return rows
}

// Category returns the number that a code in the sets of the forest stands for, in a column without texts.
func (m *Model) Category(column, code int) float32 {
	for _, e := range m.edits {
		if e.column == column {
			return float32(code) + e.shift
		}
	}
	return float32(code)
}

// Notes returns the warnings, and how columns are numbered if they have no names.
func (m *Model) Notes() []string {
	if m.Numbering == "" || m.Names != nil {
		return m.Warnings
	}
	return append(slices.Clone(m.Warnings), "the model has no ids of features: "+m.Numbering)
}

// Plain returns the forest, or an error if it does not take raw values as they are, such as categories below zero.
func (m *Model) Plain() (*forest.Forest, error) {
	if m.Weights != nil {
		return nil, fmt.Errorf("the model of %s is linear, and not a forest", m.Library)
	}
	if len(m.edits) > 0 {
		return nil, fmt.Errorf("this forest of %s is scored here, but not used as one of plrank: it has categories that are numbers, "+
			"or zeros that are missing", m.Library)
	}
	return m.Forest, nil
}

// formats are the files that are read.
var formats = []struct {
	is   func(data []byte) bool
	read func(*Model, []byte) error
}{
	{func(data []byte) bool { return begins(data, "tree\n", "tree\r\n") }, (*Model).lightGBM},
	{func(data []byte) bool {
		return len(data) > 1 && data[0] == '{' && bytes.IndexByte([]byte("iUIlL"), data[1]) >= 0
	}, (*Model).xgboostUBJ},
	{func(data []byte) bool { return begins(bytes.TrimLeft(data, " \t\r\n"), "{", "[") }, (*Model).json},
	{isRankLib, (*Model).rankLib},
}

func begins(data []byte, with ...string) bool {
	return slices.ContainsFunc(with, func(w string) bool { return bytes.HasPrefix(data, []byte(w)) })
}

// Is reports whether the bytes of a file begin as a model of another library does.
func Is(data []byte) bool {
	for _, f := range formats {
		if f.is(data) {
			return true
		}
	}
	return false
}

// Read reads a model from the bytes of its file. It takes memory in proportion to them. Read returns an error if the file is
// damaged, or has something that cannot be scored right.
func Read(data []byte) (*Model, error) {
	for _, f := range formats {
		if !f.is(data) {
			continue
		}
		m := &Model{Forest: &forest.Forest{}, first: 1}
		err := f.read(m, data)
		if err == nil {
			err = m.finish()
		}
		if err != nil && m.Library != "" {
			err = fmt.Errorf("%s model: %w", m.Library, err)
		}
		return m, err
	}
	const read = "LightGBM, XGBoost, CatBoost, RankLib, Solr or Elasticsearch"
	switch kind, known := filekind.Of(data); {
	case len(data) == 0:
		return nil, errors.New("the file is empty")
	case known:
		return nil, fmt.Errorf("the file is %s: %s", kind.Name, cmp.Or(kind.Model, "want a model.npz, or a model of "+read))
	}
	return nil, fmt.Errorf("not a model.npz, or a model of %s: it begins with %s", read, text.Quote(data))
}

// finish checks what was read, and numbers the columns.
func (m *Model) finish() error {
	if len(m.Forest.Trees) == 0 && m.Weights == nil {
		return errors.New("it has no trees: want a model that was trained")
	}
	if err := m.Forest.Check(); err != nil {
		return err
	}
	if err := m.checkSplits(); err != nil {
		return err
	}
	if m.Forest.Inputs == 0 {
		return errors.New("no tree asks for a feature")
	}
	for _, name := range m.Names {
		if name == "" {
			return errors.New("a feature has an empty name")
		}
	}
	if sorted := slices.Sorted(slices.Values(m.Names)); len(slices.Compact(sorted)) < len(m.Names) {
		return errors.New("two features have the same name")
	}
	if !slices.ContainsFunc(m.Levels, func(levels []string) bool { return levels != nil }) {
		m.Levels = nil
	}
	m.number()
	for _, c := range m.numbers {
		m.NumberLevels = append(m.NumberLevels, m.IDs[c])
	}
	m.scorer = m.Forest.Compile()
	return nil
}

// checkSplits returns an error if a feature is split both as a number and as a category: edits are for one of the two.
func (m *Model) checkSplits() error {
	isSet := map[int]bool{}
	for i, t := range m.Forest.Trees {
		for _, n := range t.Nodes {
			set := n.Set != nil
			if was, seen := isSet[n.Column]; seen && was != set {
				return fmt.Errorf("tree %d: column %d is split as a number and as a category", i, n.Column)
			}
			isSet[n.Column] = set
		}
	}
	return nil
}

const byIDs = "columns named by ids when it is trained need no rule"

// number gives the columns ids and their order: their names, if these are whole numbers, else 1, 2, … Names 0, 1, … in
// their order are the positions that data frames without names have.
func (m *Model) number() {
	ids, named, positions := make([]int, m.Forest.Inputs), m.Names != nil, true
	for c := 0; c < len(ids) && named; c++ {
		ids[c], named = text.ParseFeatureID(m.Names[c])
		positions = positions && ids[c] == c
	}
	if named && positions {
		m.Names, named = nil, false
	}
	if !named {
		for c := range ids {
			ids[c] = m.first + c
		}
		m.IDs = ids
		m.Numbering = fmt.Sprintf("column k of its training data, from 0, is taken for feature k + %d; "+byIDs, m.first)
		if m.first == 0 {
			m.Numbering = "column k of its training data, from 0, is taken for feature k, as LightGBM reads text, because column 0 was " +
				"constant; " + byIDs
		}
		asks := func(t forest.Tree) bool {
			return slices.ContainsFunc(t.Nodes, func(n forest.Node) bool { return n.Column == 0 })
		}
		if m.Library == "XGBoost" && !slices.ContainsFunc(m.Forest.Trees, asks) {
			m.Numbering += "; no tree asks for column 0, as if XGBoost had read text by itself, where column k is feature k, and one that a " +
				"line leaves out is missing: want it trained on arrays"
		}
		return
	}
	m.Names = nil
	order := make([]int, len(ids))
	for c := range order {
		order[c] = c
	}
	slices.SortFunc(order, func(a, b int) int { return ids[a] - ids[b] })
	to, levels := make([]int, len(ids)), m.Levels
	for at, c := range order {
		to[c] = at
		m.IDs = append(m.IDs, ids[c])
		if levels != nil {
			m.Levels = append(m.Levels[:at:at], levels[c])
		}
	}
	for _, t := range m.Forest.Trees {
		for i := range t.Nodes {
			t.Nodes[i].Column = to[t.Nodes[i].Column]
		}
	}
	for i := range m.edits {
		m.edits[i].column = to[m.edits[i].column]
	}
	for i, c := range m.numbers {
		m.numbers[i] = to[c]
	}
	categories := m.Categories
	m.Categories = map[int]map[float32]bool{}
	for c, known := range categories {
		m.Categories[to[c]] = known
	}
}

// categories says which texts the categories of a column are, and returns the values that stand for them in rows. Categories
// that are whole numbers in the file of the model stand for themselves; others become Levels, also texts that look like numbers.
func (m *Model) categories(column int, texts []string, numbers bool) ([]int, error) {
	if distinct := slices.Compact(slices.Sorted(slices.Values(texts))); len(distinct) < len(texts) {
		name := strconv.Itoa(column)
		if m.Names != nil {
			name = m.Names[column]
		}
		return nil, fmt.Errorf("it has a category of %s twice", name)
	}
	values, low, high := make([]int, len(texts)), 0, 0
	whole := numbers
	for i, t := range texts {
		f, err := strconv.ParseFloat(t, 64)
		whole = whole && err == nil && f == math.Trunc(f) && math.Abs(f) < mostCategories
		if !whole {
			break
		}
		values[i] = int(f)
		low, high = min(low, values[i]), max(high, values[i])
	}
	if whole && high-low < mostCategories && len(texts) > 0 {
		if low < 0 {
			m.edits = append(m.edits, edit{column: column, shift: float32(low)})
		}
		for i, v := range values {
			m.know(column, v)
			values[i] = v - low
		}
		return values, nil
	}
	if m.Levels == nil {
		m.Levels = make([][]string, m.Forest.Inputs)
	}
	m.Levels[column] = append([]string{}, texts...)
	if numbers {
		m.numbers = append(m.numbers, column)
	}
	for i := range values {
		values[i] = i + 1
	}
	return values, nil
}

// know adds one of Categories.
func (m *Model) know(column, category int) {
	if m.Categories == nil {
		m.Categories = map[int]map[float32]bool{}
	}
	if m.Categories[column] == nil {
		m.Categories[column] = map[float32]bool{}
	}
	m.Categories[column][float32(category)] = true
}

// gainOf returns a gain of a list, 0 if it is missing or not a gain.
func gainOf[T single | float64](gains []T, i int) float32 {
	if i < len(gains) && gains[i] > 0 && gains[i] <= math.MaxFloat32 {
		return float32(gains[i])
	}
	return 0
}

// mostCategories bounds categories that are numbers, which take a bit each.
const mostCategories = 1 << 16

// sets makes the sets of categories of a forest, within a bound on their memory.
type sets struct{ left int } // words

// newSets returns sets for a file of that size.
func newSets(size int) *sets { return &sets{1<<20 + size} }

// set returns the set of some categories, or of the values that stand for them if there are any.
func (s *sets) set(categories, values []int) ([]uint64, error) {
	most := 0
	for i, c := range categories {
		if c < 0 || values != nil && c >= len(values) {
			return nil, fmt.Errorf("category %d, want 0 or more, and one of the %d that the file lists, if it does", c, len(values))
		}
		if values != nil {
			if i == 0 {
				categories = slices.Clone(categories)
			}
			categories[i] = values[c]
		}
		most = max(most, categories[i])
	}
	words := most/64 + 1
	if s.left -= words; s.left < 0 {
		return nil, fmt.Errorf("category %d makes the sets of categories too large: want categories numbered from 0 without large gaps", most)
	}
	set := make([]uint64, words)
	for _, c := range categories {
		set[c/64] |= 1 << (c % 64)
	}
	return set, nil
}

// checkInputs returns an error if the number of columns is not one of a model file.
func checkInputs(n, size int) error {
	if n < 1 || n > 1<<20+size {
		return fmt.Errorf("%d features, want 1 or more, and not many more than the file has bytes", n)
	}
	return nil
}
