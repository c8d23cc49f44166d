package trainer

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

// A flag that has no effect with the others is a warning that says what it is for. There is none where
// the flag asks for nothing, or where a recipe has set what it sets.
func TestFlagsWithoutEffectAreWarnings(t *testing.T) {
	t.Parallel()
	data, shop := fold(t), commandtest.Shop(t)
	one := " -data " + filepath.Join(data, "train.txt")
	subtopics := filepath.Join(t.TempDir(), "subtopics")
	query := regexp.MustCompile(`qid:(\S+)`).FindStringSubmatch(read(t, strings.Fields(one)[1]))[1]
	write(t, subtopics, query+" 1 "+query+".1 1\n")
	_, log, bias := logged(t)
	clicks := "-clicks " + log + " -bias " + bias
	for _, c := range []struct{ args, want string }{
		{"-momentum 0.5", "-momentum has no effect with -optimizer adam: it is for -optimizer momentum"},
		{"-momentum 0.5 -optimizer momentum", ""},
		{"-weight-decay 0.1", "-weight-decay has no effect with -optimizer adam: it is for -optimizer adamw"},
		{"-weight-decay 0.1 -optimizer adamw", ""},
		{"-samples 9", "-samples has no effect with -loss plrank-exact+0.01*softmax: it is for losses that sample, such as plrank-rb"},
		{"-samples 9 -loss listmle", "-samples has no effect with -loss listmle"},
		{"-samples 9 -loss softmax+plrank2", ""},
		{"-samples 9 -preset paper", ""},
		{"-blocks 2", "-blocks has no effect with -scorer mlp: it is for -scorer attention"},
		{"-heads 1", "-heads has no effect with -scorer mlp"},
		{"-depth 2", "-depth has no effect with -scorer mlp: it is for -scorer forest"},
		{"-depth 2 -leaves 4 -trees 2 -sampling 0.5 -feature-sampling 0.5 -rising 1 -falling 2 -bins 9 -l2 2 -scorer forest", "-members has no effect with -scorer forest"}, // which all cases here have
		{"-hidden 8 -scorer forest", "-hidden has no effect with -scorer forest: it is for networks"},
		{"-dropout 0.1 -scorer forest", "-dropout has no effect with -scorer forest"},
		{"-activation tanh -hidden=", `-activation has no effect with -hidden "": it is for hidden layers`},
		{"-dropout 0.1 -hidden=", `-dropout has no effect with -hidden ""`},
		{"-dropout 0 -hidden=", ""},
		{"-normalize -loss mse", "-normalize has no effect with -loss mse: it is for losses that go by the size of gains, such as plrank-exact"},
		{"-normalize -loss hinge", "-normalize has no effect with -loss hinge"},
		{"-normalize -loss listmle", "-normalize has no effect with -loss listmle"},
		{"-normalize -loss partial-listmle", "-normalize has no effect with -loss partial-listmle"},
		{"-normalize -loss ranknet+softmax", "-normalize has no effect with -loss ranknet+softmax"},
		{"-normalize -loss xe-ndcg", ""},
		{"-normalize=false -loss mse", ""},
		{"-normalize -loss mse+plrank-exact", ""},
		{"-weighted-metrics", "-weighted-metrics has no effect without weights of queries: it is for data with them, such as in a file FILE.weight"},
		{"-drop-label-free-test", ""},
		{"-drop-label-free-test" + one, "-drop-label-free-test has no effect without a test split: -test names one"},
		{"-preset paper" + one, ""},
		{"-subtopics " + subtopics + one, "-subtopics has no effect with -metric expected-ndcg@10: it is for losses and metrics by intents, such as -report alpha-ndcg"},
		{"-subtopics " + subtopics + one + " -loss exact-alpha-ndcg", ""},
		{"-intents price -data " + shop, ""},       // likewise
		{"-group-column seller -data " + shop, ""}, // which is not a feature then
		{"-report map " + clicks, "-report has no effect with -clicks and no labels: it is for labelled data, which -vali names"},
		{"-ties order " + clicks, "-ties has no effect with -clicks and no labels"},
		{"-label-column x " + clicks, "-label-column has no effect without -data FILE or FOLDER: it is for what is read"},
		{"-features 1 -data synthetic:mslr -scale 0.0001", "-features has no effect without -data FILE"},
		{"-cache x -data synthetic:mslr -scale 0.0001", "-cache has no effect without -data FILE"},
		{"-cache off -data synthetic:mslr -scale 0.0001", ""},
	} {
		args := strings.Fields("-scorer mlp -hidden 4 -epochs 1 -members 1 " + c.args)
		if !strings.Contains(c.args, "-data") && !strings.Contains(c.args, "-clicks") {
			args = append(args, "-data", data)
		}
		status, _, stderr := call(args...)
		if status != 0 || c.want == "" && strings.Contains(stderr, "no effect") || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d, %s, want %q", c.args, status, stderr, c.want)
		}
	}
	// Folds have the same flags.
	if _, stderr := must(t, "-data", folds(t, 3), "-folds", "all", "-momentum", "0.5", "-hidden", "4", "-epochs", "1", "-members", "1"); strings.Count(stderr, "-momentum has no effect") != 1 {
		t.Errorf("want one warning for all folds: %s", stderr)
	}
}
