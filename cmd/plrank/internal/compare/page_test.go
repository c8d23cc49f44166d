package compare

import (
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

func TestEveryFlagIsExplainedOnce(t *testing.T) {
	commandtest.Documented(t, page, new(options).Flags())
}
