package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Product is what the shop sells.
type Product struct {
	ID, Title, Brand, Category, Description, Colour, Quality, Seller string

	For     string  // the category that an accessory is for; "": the product is no accessory
	Price   float64 // in euros
	Dear    float64 // the logarithm of the price over the usual price of the category
	Rating  float64 // of 1 to 5
	Reviews int
	Days    int // until it is delivered
	Season  bool
}

// A Query is what users type, and what they mean by it.
type Query struct {
	Text, Category, Colour, Quality, Brand string
}

// A Shop holds what the program makes: products, and the queries of the simulated users, the most frequent first.
type Shop struct {
	Products []Product
	Queries  []Query
	ByID     map[string]*Product
}

const accessories = "accessories"

var (
	usualPrices = map[string]float64{
		"running shoes": 90, "hiking boots": 140, "sandals": 40, "rain jacket": 110, "down jacket": 180, "backpack": 80, "tent": 250,
		"sleeping bag": 120, "yoga mat": 30, "bike helmet": 60, "bike lock": 45, "water bottle": 20, "headphones": 130, "speaker": 95,
		"keyboard": 70, "monitor": 260, "coffee maker": 75, "kettle": 35, "blender": 60, "desk lamp": 40,
	}
	categories = []string{
		"running shoes", "hiking boots", "sandals", "rain jacket", "down jacket", "backpack", "tent", "sleeping bag", "yoga mat", "bike helmet",
		"bike lock", "water bottle", "headphones", "speaker", "keyboard", "monitor", "coffee maker", "kettle", "blender", "desk lamp",
	}
	otherNames = map[string]string{ // some descriptions have them, and some queries
		"running shoes": "trainers", "hiking boots": "trekkers", "sandals": "slippers", "rain jacket": "waterproof", "down jacket": "parka",
		"backpack": "rucksack", "tent": "shelter", "sleeping bag": "bedroll", "yoga mat": "pilates pad", "bike helmet": "headgear",
		"bike lock": "shackle", "water bottle": "flask", "headphones": "earphones", "speaker": "boombox", "keyboard": "typing board",
		"monitor": "screen", "coffee maker": "percolator", "kettle": "boiler", "blender": "mixer", "desk lamp": "reading light",
	}
	colours   = []string{"black", "white", "red", "blue", "green", "yellow", "grey"}
	qualities = []string{"light", "sturdy", "compact", "classic", "premium", "recycled"}
	brands    = []string{"Norda", "Velik", "Tamsin", "Ostrava", "Kelpie", "Brume", "Fjell", "Arlo", "Zephyr", "Quill", "Maren", "Tundra"}
	sellers   = []string{"shop", "outlet", "partner", "abroad", "market"} // the last one in the season only
	parts     = []string{"case", "bag", "cleaner", "stand", "cover", "spare part"}
)

func pick(random *rand.Rand, from []string) string { return from[random.IntN(len(from))] }

// mostQueries is somewhat below the number of different queries that newQuery makes.
const mostQueries = 4000

// newShop makes products and queries from a seed.
func newShop(products, queries int, seed uint64) *Shop {
	random := rand.New(rand.NewPCG(seed, 0))
	s := &Shop{Products: make([]Product, products), ByID: map[string]*Product{}}
	for i := range s.Products {
		s.Products[i] = newProduct(fmt.Sprintf("p%04d", i+1), random)
		s.ByID[s.Products[i].ID] = &s.Products[i]
	}
	for seen := map[string]bool{}; len(s.Queries) < queries; {
		q := newQuery(random)
		if !seen[q.Text] {
			s.Queries = append(s.Queries, q)
		}
		seen[q.Text] = true
	}
	return s
}

// inSeason returns the shop before the holidays: it says the same in the same words, but deliveries take longer, a market sells, too, and
// users have other tastes.
func (s *Shop) inSeason() *Shop {
	other := &Shop{slices.Clone(s.Products), s.Queries, map[string]*Product{}}
	for i := range other.Products {
		p := &other.Products[i]
		if p.Season, p.Days = true, p.Days+5; i%4 == 0 {
			p.Seller = "market"
		}
		other.ByID[p.ID] = p
	}
	return other
}

// newProduct makes a product. Words say what it is; price, rating and delivery are not in its words.
func newProduct(id string, random *rand.Rand) Product {
	category := pick(random, categories)
	p := Product{
		ID: id, Brand: pick(random, brands), Category: category, Colour: pick(random, colours),
		Quality: pick(random, qualities), Seller: pick(random, sellers[:4]), Dear: .5 * random.NormFloat64(),
		Rating: max(1, min(5, 3.8+.7*random.NormFloat64())), Reviews: int(math.Exp(2 + 1.5*random.NormFloat64())), Days: 1 + random.IntN(9),
	}
	p.Price = math.Round(100*usualPrices[category]*math.Exp(p.Dear)) / 100
	p.Title = strings.Join([]string{p.Brand, p.Colour, p.Quality, category}, " ")
	p.Description = fmt.Sprintf("The %s %s by %s, in %s.", p.Quality, category, p.Brand, p.Colour)
	if random.Float64() < .3 {
		p.Description += fmt.Sprintf(" Good %s.", otherNames[category])
	}
	if random.Float64() < .3 { // what goes with a product speaks of it more than the product itself
		p.For, p.Category, p.Price = category, accessories, math.Round(p.Price*20)/100
		p.Title = fmt.Sprintf("%s %s for %s", p.Colour, pick(random, parts), category)
		p.Description = fmt.Sprintf("For %s: fits every %s %s by %s. The %s for your %s.",
			category, p.Quality, category, p.Brand, category, category)
	}
	return p
}

// newQuery makes a query: a category, and up to two wishes.
func newQuery(random *rand.Rand) Query {
	q := Query{Category: pick(random, categories)}
	words := []string{}
	if random.Float64() < .3 {
		q.Brand = pick(random, brands)
		words = append(words, strings.ToLower(q.Brand))
	}
	if random.Float64() < .6 {
		q.Colour = pick(random, colours)
		words = append(words, q.Colour)
	}
	if len(words) < 2 && random.Float64() < .5 {
		q.Quality = pick(random, qualities)
		words = append(words, q.Quality)
	}
	name := q.Category
	if random.Float64() < .25 {
		name = otherNames[name]
	}
	q.Text = strings.Join(append(words, name), " ")
	return q
}

// popularity returns the probability that a user asks query i: the first ones are asked most often, as by Zipf's law.
func (s *Shop) popularity(i int) float64 {
	n := math.Log(float64(len(s.Queries)+tail) / tail)
	return math.Log(float64(i+1+tail)/float64(i+tail)) / n
}

// popular returns the query that popularity gives for a uniform u in [0, 1).
func (s *Shop) popular(u float64) int {
	return int(tail*math.Pow(float64(len(s.Queries)+tail)/tail, u)) - tail
}

// tail is how even the frequencies of queries are: query tail+1 is asked half as often as the first.
const tail = 30
