package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/train"
)

// The best recipe on a small synthetic collection.
func Example() {
	splits := datasets.Synthetic(datasets.SyntheticOptions{Train: 40, Vali: 20, Test: 20, Seed: 1})
	config := train.Default()
	config.Epochs = 5
	trainer, err := train.New(config, train.Parts{}, splits)
	if err != nil {
		log.Fatal(err)
	}
	result, err := trainer.Run(context.Background(), train.Hooks{})
	if err != nil {
		log.Fatal(err)
	}
	report, err := trainer.Report(result.Model)
	if err != nil {
		log.Fatal(err)
	}
	test := report.Splits[2]
	for i, name := range []string{"random order", "best feature", "model"} {
		fmt.Printf("%-12s  NDCG@10 %.1f\n", name, test.Value(i, "ndcg@10"))
	}
	// Output:
	// random order  NDCG@10 0.2
	// best feature  NDCG@10 0.4
	// model         NDCG@10 0.7
}
