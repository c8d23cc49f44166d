// Package export implements the sub-command that writes a model in the format of other programs.
package export

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/internal/text"
	"github.com/plrank/plrank/ranker"
)

var page = cli.Page{
	Command: "export",
	Usage:   []string{"-model FILE -onnx FILE", "-model FILE -solr FILE", "-model FILE -elasticsearch FILE"},
	Text: `Writes a model for ONNX Runtime, and for servers that run it, such as Vespa and Triton; or a forest for Solr, or for the plugins of
Elasticsearch and OpenSearch.`,
	Examples: []string{"-model runs/fold1/model.npz -onnx model.onnx", "-model lightgbm.txt -solr solr.json"},
}

// options are the command line.
type options struct {
	model string
	files [3]string // by format
}

// formats are the formats of files.
var formats = [3]struct {
	flag, usage string
	write       func(*ranker.Model, io.Writer) error
	use         func(m *ranker.Model, path string) string
}{
	{"onnx", "a new `file` for the model in ONNX format, with the transform: from the raw features of the documents of a query, " +
		"float32 [documents, features], to their scores; - is standard output. docs/serving.md shows its use",
		(*ranker.Model).WriteONNX, useONNX},
	{"solr", "a new `file` for a forest as a model of Solr, a MultipleAdditiveTreesModel; - is standard output. " +
		"docs/migrating.md shows its use", (*ranker.Model).WriteSolr, useSolr},
	{"elasticsearch", "a new `file` for a forest as a model of the plugins of Elasticsearch and OpenSearch, " +
		"of type model/xgboost+json; likewise", (*ranker.Model).WriteElasticsearch, useElasticsearch},
}

func (o *options) Flags() cli.Flags {
	list := cli.Flags{{Name: "model", Value: &o.model, Help: "a model `file`"}}
	for i, format := range formats {
		list = append(list, cli.Flag{Name: format.flag, Value: &o.files[i], Help: format.usage})
	}
	return list
}

func (o *options) Check(*cli.Line) error {
	return cli.ErrorIf(o.model == "" || o.files == [3]string{}, "-model and one of -onnx, -solr and -elasticsearch are needed")
}

// Run runs the sub-command, and returns its exit status.
var Run = cli.Command[options](page)

// Run writes the model.
func (o *options) Run(_ context.Context, _ *cli.Line, _ io.Reader, stdout, stderr io.Writer) error {
	m, err := ranker.Open(o.model)
	if err != nil {
		return err
	}
	var files cli.NewFiles
	defer files.Remove()
	for i, path := range o.files {
		if out, err := files.Open(path); err != nil {
			return fmt.Errorf("export: %w", err)
		} else if out != nil {
			if err := formats[i].write(m, out); err != nil {
				return fmt.Errorf("export: %s: %w", path, err)
			}
		}
	}
	if err := files.Publish(stdout); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for i, path := range o.files {
		if path != "" {
			fmt.Fprintln(stderr, formats[i].use(m, path))
		}
	}
	return nil
}

// useONNX says what the input of the model must be.
func useONNX(m *ranker.Model, _ string) string {
	words := "the score of a document does not depend on the others: any documents may be scored together"
	if m.ComparesDocuments() {
		words = "scores compare the documents of a query: all of one query, and no others, must be scored together"
	}
	if m.File().BaseScores {
		words += "; base_scores, a second input, are the scores of the ranker that the model was trained on top of"
	}
	return words
}

const upload = "curl -X %s -H 'Content-Type: application/json' --data-binary @%s %s"

func useSolr(m *ranker.Model, path string) string {
	return fmt.Sprintf(`Upload it by %s
The feature store needs features named %s, which give what the training data have.
Features that may be missing in these data need "defaultValue": "NaN" and Solr 9.2 or later; the others are 0 where they are missing.
If the store is not _DEFAULT_, add "store": "NAME" to the file.`,
		fmt.Sprintf(upload, "PUT", path, "http://localhost:8983/solr/COLLECTION/schema/model-store"), features(m))
}

func useElasticsearch(m *ranker.Model, path string) string {
	return fmt.Sprintf(`Upload it by %s
FEATURESET, the set of features, needs some named %s, which give what the training data have.
A feature that does not match a document is missing. The plugin of Elasticsearch knows missing values since version 1.5.9.`,
		fmt.Sprintf(upload, "POST", path, "http://localhost:9200/_ltr/_featureset/FEATURESET/_createmodel"), features(m))
}

// features lists the names of the features that a model uses.
func features(m *ranker.Model) string {
	var names []string
	for _, id := range m.UsedFeatures() {
		column, _ := slices.BinarySearch(m.File().FeatureIDs, id)
		names = append(names, m.FeatureName(column))
	}
	return text.List(names)
}
