package main

import (
	"cmp"
	"math"
	"slices"
)

// segments are the kinds of users. Who is in which is known, what they like is not: the model learns it from clicks.
var segments = []string{"thrifty", "careful", "hasty"}

// shown is the number of products on a page.
const shown = 8

// examined is the probability that users look at a rank: the position bias, which the program estimates.
var examined = []float64{1, .7, .52, .41, .34, .29, .25, .22}

// attraction is the truth of the simulation: the probability that a user of a segment clicks a product that they look at. A
// real shop never knows it. Only the simulated users and the curve of true values use it.
func attraction(q Query, segment string, p *Product) float64 {
	if p.Category != q.Category {
		if p.For == q.Category {
			return .03
		}
		return .005
	}
	z := -1.2
	for _, wish := range []struct{ asked, got string }{{q.Colour, p.Colour}, {q.Quality, p.Quality}, {q.Brand, p.Brand}} {
		if wish.asked != "" && wish.asked == wish.got {
			z++
		} else if wish.asked != "" {
			z--
		}
	}
	rating, reviews, late := (p.Rating-3.8)/.7, (math.Log1p(float64(p.Reviews))-2)/1.5, (float64(p.Days)-5)/2.6
	if p.Season { // everybody wants a dear gift, in time
		return .8 / (1 + math.Exp(-z-1.5*p.Dear+2*(late-5/2.6)))
	}
	switch segment {
	case "thrifty":
		z += -2.4*p.Dear + .3*rating
	case "careful":
		z += .9*rating + .6*reviews + .8*p.Dear
	case "hasty":
		z += -1.3*late + .3*rating
	}
	if p.Seller == "abroad" {
		z -= .7
	}
	return .8 / (1 + math.Exp(-z))
}

// value returns the true value of a ranking: how many clicks it gets on average.
func value(q Query, segment string, ranking []*Product) (clicks float64) {
	for k, p := range ranking[:min(shown, len(ranking))] {
		clicks += examined[k] * attraction(q, segment, p)
	}
	return clicks
}

// best returns the candidates in the order of their attraction.
func best(q Query, segment string, hits []Hit) []*Product {
	ranking := products(hits)
	slices.SortStableFunc(ranking, func(a, b *Product) int {
		return cmp.Compare(attraction(q, segment, b), attraction(q, segment, a))
	})
	return ranking
}

// products returns the products of hits.
func products(hits []Hit) (ranking []*Product) {
	for _, h := range hits {
		ranking = append(ranking, h.Product)
	}
	return ranking
}
