package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/jsonread"
	"github.com/plrank/plrank/plackett"
	"github.com/plrank/plrank/ranker"
)

// ruleFields are the members of a request that change its ranking, and what they are about.
var ruleFields = members[slices.Index(members, "diversify"):]

// rulesOf returns the members of a request that are rules.
func rulesOf(fields map[string][]byte) map[string][]byte {
	rules := map[string][]byte{}
	for _, name := range ruleFields {
		if fields[name] != nil {
			rules[name] = fields[name]
		}
	}
	return rules
}

// A ruling says what rules cost: the expected NDCG of the ranking in the answer, the drawn one if there is one, with and without
// them. The gain of a document is proportional to the probability with which the model would draw it first.
type ruling struct {
	Metric  string  `json:"metric"`
	Without float64 `json:"without"`
	With    float64 `json:"with"`

	Exposure []exposed `json:"exposure,omitempty"`
}

// exposed is what an entry of "exposure" came to: the share of its documents, and what their scores got for it.
type exposed struct {
	Share  float64 `json:"share"`
	Offset float64 `json:"offset"`
}

// A ruler turns rules about columns and ids into rules about documents.
type ruler struct {
	*request
	rows   *rows
	scores []float64
	rules  plackett.Rules
	named  []string // the quotas, as the request has them

	attributes map[string][]byte // by name: an array of values

	groups [][]int // whose exposure has a target
	least  []float64
	wanted []string // these, as the request has them

	lambda    float64   // 0: not diversified
	matrix    []float64 // documents × dimension
	dimension int
}

// rule makes the rules of a request that has some, and orders by them. What they take depends on their documents.
func (s *Service) rule(ctx context.Context, in *request, space *scratch, out *response) (rules *plackett.Rules, err error) {
	if len(in.rules) == 0 || in.count == 0 {
		return nil, nil
	}
	if in.interleaved {
		return nil, badRequest("%s: rankings of interleaved models have no rules: name a model", slices.Min(slices.Collect(maps.Keys(in.rules))))
	}
	r := ruler{request: in, rows: &space.rows, scores: out.Scores}
	entries, steps := 3, 0 // each goes through the attributes and the documents, as do the numbers of classes
	for name, value := range in.rules {
		if name != "attributes" {
			entries += bytes.Count(value, []byte("{"))
		}
	}
	price := float64(entries) * (memberTime*float64(in.count) + bodyTime*float64(len(in.rules["attributes"])))
	if err := s.part(ctx, space, "its rules", price, 1, func() error {
		err := r.read()
		if err == nil {
			if steps, err = r.rules.Work(in.count, r.counted()); err != nil {
				err = badRequest("%w", err)
			}
		}
		return err
	}); err != nil {
		return nil, err
	}
	if r.lambda > 0 {
		if err := s.part(ctx, space, "its diversity", mmrTime*float64(in.count*len(r.matrix)), 1, r.mmr); err != nil {
			return nil, err
		}
	}
	if len(r.least) > 0 {
		if err := s.expose(ctx, &r, space, out); err != nil {
			return nil, err
		}
	}
	price = stepTime*float64(steps) + memberTime*float64(in.count*(3+len(r.rules.Quotas)))
	if in.draw != nil {
		price *= ruledPolicies
	}
	return &r.rules, s.part(ctx, space, "its quotas", price, 1, func() (err error) {
		out.Order, err = ranker.Policy{Rules: &r.rules}.Rank(out.Order[:0], out.Scores)
		if infeasible := new(plackett.QuotaError); errors.As(err, &infeasible) {
			return badRequest("quotas: %s cannot be obeyed: with the rules before it, %d to %d of its documents are possible",
				r.named[infeasible.Quota], infeasible.Least, infeasible.Most)
		}
		if err == nil && in.draw == nil {
			out.Rules = &ruling{}
			err = in.cost(ctx, out.Rules, out.Scores, out.Order, ranker.Policy{})
		}
		if err != nil {
			return badRequest("%w", err)
		}
		return nil
	})
}

// counted is how many ranks count in what rules cost.
func (r *request) counted() int {
	if r.draw != nil {
		return min(r.draw.cutoff, r.count)
	}
	return min(10, r.count)
}

// discounts returns the discounts of DCG at the ranks that count.
func (r *request) discounts() []float64 {
	discounts := make([]float64, r.counted())
	for k := range discounts {
		discounts[k] = 1 / math.Log2(float64(k+2))
	}
	return discounts
}

// cost sets what rules cost.
func (r *request) cost(ctx context.Context, c *ruling, scores []float64, order []int, policy ranker.Policy) error {
	ranks, discounts, gains := r.counted(), r.discounts(), make([]float64, len(scores))
	best := ranker.Rank(nil, scores)
	for d, m := range scores {
		gains[d] = math.Exp(m - scores[best[0]])
	}
	ideal := 0.
	c.Metric, c.Without, c.With = fmt.Sprintf("ndcg@%d", ranks), 1, 0
	for k, theta := range discounts {
		ideal += theta * gains[best[k]]
		c.With += theta * gains[order[k]]
	}
	if r.draw != nil {
		c.Metric = "expected-" + c.Metric
		var exposure []float64
		for rules, value := range map[*plackett.Rules]*float64{nil: &c.Without, policy.Rules: &c.With} {
			policy.Rules = rules
			var err error
			if exposure, err = policy.Exposure(ctx, exposure[:0], scores, discounts); err != nil {
				return err
			}
			*value = floats.Dot(gains, exposure)
		}
		c.Without /= ideal
	}
	c.With /= ideal
	return nil
}

// expose adds the offsets that give groups their exposure under the policy of the draw.
func (s *Service) expose(ctx context.Context, r *ruler, space *scratch, out *response) error {
	if r.draw == nil || len(r.rules.Quotas) > 0 {
		return badRequest("exposure: it is of a policy: want draw, and no quotas")
	}
	took, err := r.draw.policy().ExposureTime(out.Scores, r.counted())
	if err != nil {
		return badRequest("%w", err)
	}
	price := targetTimes * float64(took) * float64(len(r.least))
	return s.part(ctx, space, "its exposure", price, 1, func() error {
		list, discounts := plackett.TargetList{Groups: make([][]int, len(r.least)), Fixed: make([]float64, len(r.least))}, r.discounts()
		list.All = floats.Sum(discounts)
		at, pinned := make([]int, r.count), map[int]bool{}
		for _, pin := range r.rules.Pins {
			at[pin.Document], pinned[pin.Rank-1] = -pin.Rank, true
		}
		for d, m := range out.Scores {
			if at[d] == 0 {
				at[d] = len(list.Scores)
				list.Scores = append(list.Scores, (m+r.rules.Offsets[d])/r.draw.temperature)
			}
		}
		for k, theta := range discounts {
			if !pinned[k] {
				list.Discounts = append(list.Discounts, theta)
			}
		}
		for g, group := range r.groups {
			for _, d := range group {
				if at[d] >= 0 {
					list.Groups[g] = append(list.Groups[g], at[d])
				} else if rank := -at[d]; rank <= len(discounts) {
					list.Fixed[g] += discounts[rank-1]
				}
			}
		}
		offsets, shares, err := plackett.Offsets([]plackett.TargetList{list}, r.least)
		if impossible := new(plackett.TargetError); errors.As(err, &impossible) {
			return badRequest("exposure: entry %d, %s: less than %.4g is possible", impossible.Target, r.wanted[impossible.Target], impossible.Most)
		} else if err != nil {
			return badRequest("exposure: %w", err)
		}
		out.Rules = &ruling{}
		for g, group := range r.groups {
			for _, d := range group {
				r.rules.Offsets[d] += offsets[g] * r.draw.temperature
			}
			out.Rules.Exposure = append(out.Rules.Exposure, exposed{shares[g], offsets[g] * r.draw.temperature})
		}
		return nil
	})
}

// read reads the rules.
func (r *ruler) read() error {
	r.rules.Offsets = make([]float64, r.count)
	for _, part := range []struct {
		name string
		read func(value []byte) error
	}{
		{"attributes", func(v []byte) (err error) { r.attributes, err = object(v, plain); return err }},
		{"pins", each(r.pin)},
		{"boost", each(func(v []byte) error { return r.shift(v, 1) })},
		{"bury", each(func(v []byte) error { return r.shift(v, -1) })},
		{"quotas", each(r.quota)},
		{"diversify", r.diversify},
		{"exposure", each(r.target)},
	} {
		if value := r.request.rules[part.name]; value != nil {
			if err := part.read(value); err != nil {
				return badRequest("%s: %w", part.name, err)
			}
		}
	}
	return nil
}

// each returns a function that reads the entries of an array.
func each(read func(value []byte) error) func(array []byte) error {
	return func(array []byte) error {
		if array[0] != '[' {
			return errors.New("want an array")
		}
		for i, value := range jsonread.New(array).Elements() {
			if err := read(value); err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
		}
		return nil
	}
}

func (r *ruler) pin(value []byte) error {
	var rank int
	documents, _, err := r.entry(value, field{name: "id", needed: true}, field{"rank", &rank, 1, true})
	if err == nil && rank > r.count {
		err = fmt.Errorf("rank %d, want one from 1 to %d, the number of documents", rank, r.count)
	}
	if err == nil {
		r.rules.Pins = append(r.rules.Pins, plackett.Pin{Document: documents[0], Rank: rank})
	}
	return err
}

// shift reads a boost, or with the sign −1 how deep documents are buried.
func (r *ruler) shift(value []byte, sign float64) error {
	var by float64 // added to the score, or taken from it
	documents, _, err := r.entry(value, field{"by", &by, 0, true}, field{name: "id"}, field{name: "column"}, field{name: "value"})
	for _, d := range documents {
		r.rules.Offsets[d] += sign * by
	}
	return err
}

func (r *ruler) quota(value []byte) (err error) {
	q, most, fields := plackett.Quota{}, -1, map[string][]byte(nil)
	if q.Documents, fields, err = r.entry(value, field{name: "column"}, field{name: "value"}, field{"least", &q.Least, 0, false},
		field{"most", &most, 0, false}, field{"of the first", &q.First, 1, true}); err != nil {
		return err
	}
	switch q.Most = most; {
	case fields["least"] == nil && most < 0:
		return errors.New(`want "least" or "most": a number of documents`)
	case most < 0:
		q.Most = max(q.First, q.Least)
	case most < q.Least:
		return fmt.Errorf("at least %d, and at most %d: want no more than at most", q.Least, most)
	}
	r.named = append(r.named, fmt.Sprintf("entry %d, %s", len(r.named), clip(string(value))))
	r.rules.Quotas = append(r.rules.Quotas, q)
	return nil
}

// target reads which share of the exposure documents are to have.
func (r *ruler) target(value []byte) error {
	var least float64
	documents, fields, err := r.entry(value, field{"least", &least, 0, true}, field{name: "column"}, field{name: "value"})
	if err == nil && least > 1 {
		err = fmt.Errorf("least %s, want a share of the exposure, 0 to 1", clip(string(fields["least"])))
	}
	r.groups, r.least, r.wanted = append(r.groups, documents), append(r.least, least), append(r.wanted, clip(string(value)))
	return err
}

// entry reads a rule, and returns the documents that it is about.
func (r *ruler) entry(value []byte, members ...field) (documents []int, fields map[string][]byte, err error) {
	if fields, err = readFields(value, members...); err == nil {
		documents, err = r.documents(fields)
	}
	return documents, fields, err
}

// mmr adds the offsets of maximal marginal relevance, by scores with the offsets so far.
func (r *ruler) mmr() error {
	var first []int
	for _, pin := range r.rules.Pins {
		first = append(first, pin.Document)
	}
	offsets := make([]float64, r.count)
	scores := floats.AddTo(make([]float64, r.count), r.scores, r.rules.Offsets)
	if err := plackett.Diversify(scores, r.matrix, r.dimension, r.lambda, first, offsets); err != nil {
		return badRequest("diversify: %w", err)
	}
	floats.Add(r.rules.Offsets, offsets)
	return nil
}

// diversify reads how much MMR diversifies, and by which vectors.
func (r *ruler) diversify(value []byte) error {
	fields, err := readFields(value, field{"lambda", &r.lambda, math.SmallestNonzeroFloat64, true}, field{name: "vector"})
	if err == nil && r.lambda > 1 {
		err = fmt.Errorf("lambda %s, want a number above 0, up to 1", clip(string(fields["lambda"])))
	}
	if err != nil {
		return err
	}
	switch vector := fields["vector"]; {
	case len(vector) > 0 && vector[0] == '[':
		err = r.featureVectors(vector)
	case len(vector) > 0 && vector[0] == '"':
		err = r.givenVectors(vector)
	default:
		err = errors.New("want the name of one of vectors, or an array of names of features")
	}
	if err != nil {
		return fmt.Errorf("vector: %w", err)
	}
	return nil
}

// featureVectors makes vectors of features. A missing value is 0.
func (r *ruler) featureVectors(names []byte) error {
	var columns []int
	for _, value := range jsonread.New(names).Elements() {
		name, err := jsonread.Unquote(value)
		if err != nil {
			return errors.New("want names or ids of features, as texts")
		}
		column, _, known := r.rows.model.column(name)
		if !known {
			return fmt.Errorf("unknown feature %q: want one of feature_ids or feature_names of GET /v1/models", clip(name))
		}
		columns = append(columns, column)
	}
	if r.dimension = len(columns); r.dimension == 0 {
		return errors.New("no features")
	}
	width := len(r.rows.model.columns)
	for d := range r.count {
		for _, c := range columns {
			x := float64(r.rows.features[d*width+c])
			if x != x {
				x = 0
			}
			r.matrix = append(r.matrix, x)
		}
	}
	return nil
}

// givenVectors takes vectors of the request. One that a document lacks is 0, and like no other.
func (r *ruler) givenVectors(name []byte) error {
	text, _ := jsonread.Unquote(name) // which is Unicode, as all of the body
	given, known := r.vectors[text]
	if !known || given.ofQuery {
		return fmt.Errorf("%s is not among the vectors of documents in this request", clip(string(name)))
	}
	for _, v := range given.values {
		r.dimension = max(r.dimension, len(v))
	}
	r.matrix = make([]float64, r.count*r.dimension)
	for d, v := range given.values {
		if len(v) != 0 && len(v) != r.dimension {
			return fmt.Errorf("%s, document %d: %d numbers, want %d, as of others", clip(string(name)), d, len(v), r.dimension)
		}
		for i, x := range v {
			r.matrix[d*r.dimension+i] = float64(x)
		}
	}
	if r.dimension == 0 {
		return fmt.Errorf("%s: no document has one", clip(string(name)))
	}
	return nil
}

// documents returns the document that an object names by "id", as a text or by its position, or those that have the value of a
// column.
func (r *ruler) documents(fields map[string][]byte) ([]int, error) {
	id, column, value := fields["id"], fields["column"], fields["value"]
	switch {
	case id != nil && (column != nil || value != nil):
		return nil, errors.New("id and column exclude each other")
	case id != nil && id[0] == '"':
		text, _ := jsonread.Unquote(id) // which is Unicode, as all of the body
		d := slices.Index(r.documentIDs, text)
		if d < 0 {
			return nil, fmt.Errorf("id %s is not among document_ids", clip(string(id)))
		}
		return []int{d}, nil
	case id != nil:
		d, err := strconv.Atoi(string(id))
		if err != nil || d < 0 || d >= r.count {
			return nil, fmt.Errorf("id %s, want one of document_ids, or the position of one of %d documents, from 0", clip(string(id)), r.count)
		}
		return []int{d}, nil
	case column == nil || value == nil || column[0] != '"':
		return nil, errors.New("want a column, by name, and a value")
	}
	name, _ := jsonread.Unquote(column)
	having := r.havingFeature
	if _, known := r.attributes[name]; known {
		having = r.havingAttribute
	}
	documents, err := having(name, value)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", clip(string(column)), err)
	}
	return documents, nil
}

// havingAttribute returns the documents that have a value of an attribute.
func (r *ruler) havingAttribute(name string, value []byte) (documents []int, err error) {
	array, n, wanted := r.attributes[name], 0, canonical(value)
	if len(array) == 0 || array[0] != '[' {
		return nil, errors.New("want an array of attributes, with a value for each document")
	}
	for d, v := range jsonread.New(array).Elements() {
		if n++; wanted != "null" && canonical(v) == wanted {
			documents = append(documents, d)
		}
	}
	if n != r.count {
		return nil, fmt.Errorf("%d attributes for %d documents", n, r.count)
	}
	return documents, nil
}

// havingFeature returns the documents that have a value of a feature.
func (r *ruler) havingFeature(name string, value []byte) (documents []int, err error) {
	column, _, known := r.rows.model.column(name)
	if !known {
		return nil, errors.New("want a name of attributes, or one of feature_ids or feature_names of GET /v1/models")
	}
	width := len(r.rows.model.columns)
	own := rows{model: r.rows.model, unknowns: make([]int, width)}
	wanted := float32(0)
	if _, err := own.value(&wanted, column, jsonread.New(value)); err != nil {
		return nil, err
	}
	if own.unknowns[column] > 0 {
		return nil, fmt.Errorf("the model does not know the value %s: documents can have it as an attribute", clip(string(value)))
	}
	for d := range r.count {
		if r.rows.features[d*width+column] == wanted {
			documents = append(documents, d)
		}
	}
	return documents, nil
}

// canonical returns a text for a value that is the same for equal ones: 1.0 and 1 are equal, "1" is another one.
func canonical(value []byte) string {
	if len(value) > 0 && value[0] == '"' {
		text, _ := jsonread.Unquote(value)
		return `"` + text
	}
	if x, err := strconv.ParseFloat(string(value), 64); err == nil {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return string(value)
}
