package ranker_test

import (
	"fmt"
	"log"

	"github.com/plrank/plrank/ranker"
)

// A trained model scores the documents of a query.
func Example() {
	model, err := ranker.Open("testdata/model.npz")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("features:", model.FeatureIDs())
	scores, err := model.Score(nil, []float32{
		0.8, 1.1, -0.2, // a document
		-0.5, 0.1, 0.4, // another one
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the first is better:", scores[0] > scores[1])
	// Output:
	// features: [2 3 7]
	// the first is better: true
}
