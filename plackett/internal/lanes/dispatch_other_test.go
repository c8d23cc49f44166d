//go:build !amd64 || purego

package lanes

import "testing"

func each(t *testing.T, test func(t *testing.T)) { t.Run("plain Go", test) }
