package ranker

import (
	"bytes"
	"strings"
	"testing"
)

func TestONNXOfCustomKindsIsRefused(t *testing.T) {
	f := example()
	f.Kind = "some other kind"
	if err := reopen(t, f).WriteONNX(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), `models of kind "some other kind" cannot be written as ONNX`) {
		t.Errorf("got %v", err)
	}
}
