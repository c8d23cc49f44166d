package train_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/recipe"
	"github.com/plrank/plrank/train"
)

// The recipe for a small synthetic collection.
func Example() {
	splits := datasets.Synthetic(datasets.SyntheticOptions{Train: 40, Vali: 20, Test: 20, Seed: 1})
	config := recipe.Single("mlp", splits).Models[0]
	config.Epochs = 5
	trainer, err := train.New(config, train.Custom{}, splits)
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

// csvLog is a hook that writes a line of a CSV file after each epoch.
type csvLog struct {
	train.NopHook
	file *csv.Writer
}

func (l *csvLog) AfterEpoch(e train.Epoch) error {
	l.file.Write([]string{
		strconv.Itoa(e.Epoch),
		strconv.FormatFloat(e.LearningRate, 'g', -1, 64),
		strconv.FormatFloat(float64(e.Vali["ndcg@10"]), 'f', 1, 64),
	})
	l.file.Flush()
	return l.file.Error()
}

// A custom hook logs each epoch to a CSV file.
func ExampleHook() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	file, err := os.Create(filepath.Join(folder, "epochs.csv"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()

	splits := datasets.Synthetic(datasets.SyntheticOptions{Train: 10, Vali: 5, Seed: 1})
	config := train.Default()
	config.Epochs, config.Decay = 3, 0.5
	trainer, err := train.New(config, train.Custom{Hooks: []train.Hook{&csvLog{file: csv.NewWriter(file)}}}, splits)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := trainer.Run(context.Background(), train.Hooks{}); err != nil {
		log.Fatal(err)
	}
	lines, err := os.ReadFile(file.Name())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(lines))
	// Output:
	// 1,0.002,0.5
	// 2,0.001,0.5
	// 3,0.0005,0.5
}
