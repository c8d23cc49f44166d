package train

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/processes"
	"github.com/plrank/plrank/nn"
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

// A task is what all ranks must have in common, for their gradients to be those of one training.
type task struct {
	Config  Config
	Metrics []string
	Data    inputs // without transform and model
	Initial string // digest of the initial model, "" if there is none
}

// checkTask is collective. It is an error where a rank has another task than rank 0, before
// they exchange anything whose size depends on it.
func checkTask(p *parsed, d *runData) error {
	g := p.group
	if g.Size() == 1 {
		return nil
	}
	own := task{Config: p.config, Data: d.fingerprints()}
	for _, m := range p.evaluator.measures {
		own.Metrics = append(own.Metrics, m.String())
	}
	if p.parts.Initial != nil {
		own.Initial = p.parts.Initial.Digest()
	}
	text, err := json.Marshal(own)
	if err := processes.Agree(g, err); err != nil {
		return err
	}
	var first task
	if err = json.Unmarshal(processes.First(g, text), &first); err == nil {
		err = own.differences(first)
	}
	return processes.Agree(g, err)
}

// differences is an error that says what rank 0 has otherwise.
func (own task) differences(first task) error {
	var list []string
	if d := own.Data.differences(first.Data); d != "" {
		list = append(list, "the data ("+d+")")
	}
	if d := configDifferences(first.Config, own.Config, "on rank 0"); d != "" {
		list = append(list, "the configuration ("+d+")")
	} else if a, b := strings.Join(own.Metrics, " "), strings.Join(first.Metrics, " "); a != b { // custom ones
		list = append(list, fmt.Sprintf("the metrics (%s, on rank 0 %s)", a, b))
	}
	if own.Initial != first.Initial {
		list = append(list, "the initial model")
	}
	if list == nil {
		return nil
	}
	return fmt.Errorf("train: other than on rank 0: %s: all ranks need the same", strings.Join(list, "; "))
}

// checkModel is collective: it is checkTask for the model, whose inputs are those of the
// transform, and which may be a custom one.
func checkModel(g processes.Group, model nn.Scorer) error {
	text, err := json.Marshal([]any{model.Kind(), model.Settings(), model.Weights().Arrays()})
	if err != nil {
		err = fmt.Errorf("train: settings of the model: %w", err)
	}
	if err := processes.Agree(g, err); err != nil {
		return err
	}
	return processes.Alike(g, "the model", string(text))
}
