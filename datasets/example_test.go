package datasets_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/plrank/plrank/datasets"
)

// From a file to a packed batch.
func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "train.txt")
	text := "2 qid:7 1:0.5 2:100 # docid = A\n" +
		"0 qid:7 1:1.5 2:300 # docid = B\n" +
		"1 qid:8 1:2.5\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		log.Fatal(err)
	}

	d, err := datasets.ReadFile(path, datasets.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Queries(), "queries,", d.Rows(), "documents,", d.Width(), "features")

	transform, err := datasets.FitTransform("minmax", d)
	if err != nil {
		log.Fatal(err)
	}
	var batch datasets.Batch
	batch.Pack(d, transform, []int{0, 1}, 4, 3) // room for 4 documents and 3 queries
	fmt.Println(batch.X, batch.Labels, batch.Offsets)
	// Output:
	// 2 queries, 3 documents, 2 features
	// [0 0 1 1 0 0 0 0] [2 0 1 0] [0 2 3 3]
}
