//go:build !amd64

package lanes

import "testing"

func each(t *testing.T, test func(t *testing.T)) { t.Run("plain Go", test) }
