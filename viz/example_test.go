package viz_test

import (
	"fmt"

	"github.com/plrank/plrank/viz"
)

// At the end of a notebook cell the same values are displayed as HTML and SVG.
func Example() {
	fmt.Print(viz.Table{
		Title:   "test split",
		Columns: []string{"loss", "NDCG@5", "p"},
		Rows: []viz.Row{
			{"plrank2", 0.4312, 1.0},
			{"plrank-rb", 0.4407, 0.03},
		},
	})
	curve := viz.Plot{X: "epoch", Y: "NDCG@5", Series: []viz.Series{{Name: "plrank-rb", Y: []float64{.31, .39, .43, .44}}}}
	fmt.Println(curve.Save("curve.gif")) // curve.png would be right
	// Output:
	// test split
	//        loss  NDCG@5       p
	//     plrank2  0.4312  1.0000
	//   plrank-rb  0.4407  0.0300
	// viz: curve.gif: the name of a picture ends in .svg, .png or .pdf
}
