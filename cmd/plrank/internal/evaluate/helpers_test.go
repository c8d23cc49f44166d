package evaluate

import (
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

var (
	fit   = commandtest.Command(trainer.Run)
	call  = commandtest.Command(Run).Call
	must  = commandtest.Command(Run).Must
	fold  = commandtest.Fold
	read  = commandtest.Read
	write = commandtest.Write
)
