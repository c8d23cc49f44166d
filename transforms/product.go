package transforms

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plrank/plrank/internal/names"
	"github.com/plrank/plrank/internal/text"
)

// A Vector is a column of vectors of one dimension, which belong to queries or to documents.
type Vector struct {
	Name      string
	Dimension int    `json:",omitempty"` // 0: the one of the first vector
	File      string `json:",omitempty"` // that has the vectors, see datasets.ReadOptions; "": they are a column of the data
}

// A Product is a feature that is a number made of two vectors a and b. It is missing (NaN) if one of them is, or if it is beyond
// the range of float32.
//
//	dot(a,b)          Σ a_i b_i
//	cosine(a,b)       dot(a,b) / (|a| |b|), and 0 if one of the lengths is
//	distance(a,b)     |a − b|
//	bilinear(a,b,r)   (L a)·(R b), where L and R, of r rows, are learned; before, it is the cosine
//
// Sums are in float64, and have the same bits wherever the product is made.
type Product struct {
	Name        string      // of the feature, as above
	Left, Right [][]float32 `json:",omitempty"` // rows of L and R; nil: none are learned
}

// productKinds are the functions of two vectors.
var productKinds = map[string]func(a, b []float32) float64{
	"dot":    dot,
	"cosine": cosine,
	"distance": func(a, b []float32) (sum float64) {
		for i, x := range a {
			d := float64(x) - float64(b[i])
			sum += d * d
		}
		return math.Sqrt(sum)
	},
	"bilinear": nil,
}

// cosine returns the cosine, 0 if a vector is 0. It takes half the time of three inner products.
func cosine(a, b []float32) float64 {
	var ab, aa, bb, ab1, aa1, bb1 float64
	b = b[:len(a)]
	i := 0
	for ; i+2 <= len(a); i += 2 {
		x, y, x1, y1 := float64(a[i]), float64(b[i]), float64(a[i+1]), float64(b[i+1])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		ab1, aa1, bb1 = ab1+x1*y1, aa1+x1*x1, bb1+y1*y1
	}
	if i < len(a) {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if lengths := (aa + aa1) * (bb + bb1); lengths > 0 { // float64 has the range for squares of squares of float32
		return (ab + ab1) / math.Sqrt(lengths)
	}
	return 0
}

// dot returns the inner product. Its four sums are independent, so that a processor adds them at once.
func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i]) * float64(b[i])
		s1 += float64(a[i+1]) * float64(b[i+1])
		s2 += float64(a[i+2]) * float64(b[i+2])
		s3 += float64(a[i+3]) * float64(b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i]) * float64(b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// IsProduct reports whether a part of a transform, or the name of a feature, has the form of a product.
func IsProduct(name string) bool { return strings.HasSuffix(name, ")") && strings.Contains(name, "(") }

// SplitSpec returns the parts of the spec of a transform, see [Fit], and the products that it asks for. It returns an error for an
// invalid product.
func SplitSpec(spec string) (parts []string, products []Product, err error) {
	for _, name := range strings.Split(spec, "+") {
		if !IsProduct(name) {
			parts = append(parts, name)
			continue
		}
		p, _, _, err := ParseProduct(name)
		if err != nil {
			return nil, nil, err
		}
		products = append(products, p)
	}
	return parts, products, nil
}

// ParseProduct returns the product of that name, and the names of its vectors. It returns an error if the name is not one.
func ParseProduct(name string) (p Product, a, b string, err error) {
	kind, rest, _ := strings.Cut(strings.TrimSuffix(name, ")"), "(")
	words := strings.Split(rest, ",")
	if _, known := productKinds[kind]; !known || !IsProduct(name) {
		return p, "", "", fmt.Errorf("transforms: unknown product %q: %s of two vectors, such as cosine(q,d)", name,
			names.Want(kind, []string{"dot", "cosine", "distance", "bilinear"}))
	}
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	want := 2
	if kind == "bilinear" {
		want = 3
	}
	if len(words) != want || slices.Contains(words, "") {
		return p, "", "", fmt.Errorf("transforms: %q: want dot(a,b), cosine(a,b), distance(a,b) or bilinear(a,b,rank) of vectors a and b", name)
	}
	if p.Name = kind + "(" + strings.Join(words, ",") + ")"; want == 3 {
		if rank, err := strconv.Atoi(words[2]); err != nil || rank < 1 || rank > mostRank {
			return p, "", "", fmt.Errorf("transforms: %q: the rank is %s: want a whole number from 1 to %d", name, words[2], mostRank)
		}
	}
	return p, words[0], words[1], nil
}

// Kind returns the function of the two vectors: dot, cosine, distance or bilinear.
func (p *Product) Kind() string {
	kind, _, _ := strings.Cut(p.Name, "(")
	return kind
}

// Rank returns the rank of a bilinear product, 0 for others.
func (p *Product) Rank() (rank int) {
	if words := strings.Split(strings.TrimSuffix(p.Name, ")"), ","); p.Kind() == "bilinear" {
		rank, _ = strconv.Atoi(words[len(words)-1])
	}
	return rank
}

// Learned reports whether nothing of the product is still to be learned.
func (p *Product) Learned() bool { return p.Rank() == 0 || p.Left != nil }

// mostRank bounds the rank of a bilinear product.
const mostRank = 1024

// Check returns an error unless the product is one of two of the vectors, of the same dimension, and its matrices fit them. It
// returns the places of its vectors among them.
func (p *Product) Check(vectors []Vector) (a, b int, err error) {
	_, left, right, err := ParseProduct(p.Name)
	if err != nil {
		return 0, 0, err
	}
	find := func(name string) int { return slices.IndexFunc(vectors, func(v Vector) bool { return v.Name == name }) }
	a, b = find(left), find(right)
	for i, name := range []string{left, right} {
		if []int{a, b}[i] < 0 {
			return 0, 0, fmt.Errorf("transforms: %s: no vector %q: there are %s", p.Name, name, vectorNames(vectors))
		}
	}
	m, n := vectors[a].Dimension, vectors[b].Dimension
	if m != n && m*n > 0 && p.Left == nil {
		return 0, 0, fmt.Errorf("transforms: %s: %s has the dimension %d, and %s has %d: want the same", p.Name, left, m, right, n)
	}
	for i, rows := range [][][]float32{p.Left, p.Right} {
		dimension := []int{m, n}[i]
		if len(rows) != len(p.Left) || slices.ContainsFunc(rows, func(row []float32) bool { return len(row) != dimension }) {
			return 0, 0, fmt.Errorf("transforms: %s: its matrices do not fit the dimensions %d and %d", p.Name, m, n)
		}
	}
	return a, b, nil
}

func vectorNames(vectors []Vector) string {
	var list []string
	for _, v := range vectors {
		list = append(list, v.Name)
	}
	return text.List(list)
}

// Value returns the product of two vectors, nil for one that is missing. They must be as [Product.Check] has found.
func (p *Product) Value(a, b []float32) float32 {
	if a == nil || b == nil {
		return float32(math.NaN())
	}
	var value float64
	switch f := productKinds[p.Kind()]; {
	case f != nil:
		value = f(a, b)
	case p.Left == nil:
		value = cosine(a, b)
	default:
		for i, row := range p.Left {
			value += dot(row, a) * dot(p.Right[i], b)
		}
	}
	if v := float32(value); v-v == 0 {
		return v
	}
	return float32(math.NaN())
}
