package train

import (
	"fmt"
	"strings"

	"github.com/plrank/plrank/datasets"
)

// inputs tell whether a run goes on with the data and the model that it began with.
type inputs struct {
	Train     datasets.Fingerprint  `json:"train"`
	Vali      datasets.Fingerprint  `json:"vali"`
	Test      *datasets.Fingerprint `json:"test"`      // null: there is no test split
	Transform string                `json:"transform"` // hash
	Model     string                `json:"model"`     // kind and settings
}

// differences names what differs, "" where nothing does.
func (in inputs) differences(other inputs) string {
	var list []string
	split := func(name string, a, b datasets.Fingerprint) {
		if d := a.Differences(b); d != "" {
			list = append(list, d+" of the "+name+" split")
		}
	}
	split("training", in.Train, other.Train)
	split("validation", in.Vali, other.Vali)
	switch {
	case in.Test != nil && other.Test != nil:
		split("test", *in.Test, *other.Test)
	case in.Test != nil:
		list = append(list, "the test split, which there was none of")
	case other.Test != nil:
		list = append(list, "the test split, which is missing now")
	}
	if list == nil && in.Transform != other.Transform { // it follows from the data
		list = append(list, "the transform of the features")
	}
	if in.Model != other.Model {
		list = append(list, fmt.Sprintf("the model (%s, which was %s)", in.Model, other.Model))
	}
	return strings.Join(list, "; ")
}
