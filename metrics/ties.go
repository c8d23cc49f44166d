package metrics

// Ties says how documents of equal scores are ranked. The zero value is TiesRandom.
type Ties int

const (
	// TiesRandom gives the expected value over random orders of documents of equal scores:
	// exactly for every built-in metric (McSherry & Najork, ECIR 2008, have most of the
	// formulas), as a mean over some orders for a custom measure. The order of the
	// documents does not matter.
	TiesRandom Ties = iota
	// TiesOrder ranks them in the order of the rows: a constant score then ranks as the
	// file does.
	TiesOrder
)

var tiesNames = []string{TiesRandom: "random", TiesOrder: "order"}

// String is the name that ParseTies reads: "random" or "order".
func (t Ties) String() string { return nameOf(tiesNames, int(t), "Ties") }

// ParseTies reads "random" or "order".
func ParseTies(name string) (Ties, error) {
	i, err := indexOf(tiesNames, name, "way to rank ties")
	return Ties(i), err
}
