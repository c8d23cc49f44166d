package worth_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/plrank/plrank/worth"
)

// Four runners in some races: the logs of their worths, with standard errors.
func Example() {
	races, err := worth.Read(strings.NewReader(`
Ann > Bob > Cem > Dan
3: Bob > Ann > Dan
Cem > Ann = Bob
2: Ann > Cem
Dan > Cem | Dan, Cem, Ann
`[1:]), "races", worth.ReadOptions{})
	if err != nil {
		panic(err)
	}
	model, err := worth.Fit(context.Background(), races, worth.Options{})
	if err != nil {
		panic(err)
	}
	uncertainty, err := model.Uncertainty()
	if err != nil {
		panic(err)
	}
	for i, name := range model.Items {
		fmt.Printf("%s %.2f ± %.2f\n", name, model.LogWorths[i], uncertainty.StdErrs[i])
	}
	fmt.Printf("log-likelihood %.2f\n", model.LogLikelihood)
	// Output:
	// Ann 0.34 ± 0.51
	// Bob 1.23 ± 0.67
	// Cem -0.03 ± 0.65
	// Dan -1.54 ± 0.86
	// log-likelihood -13.72
}
