package nn

import (
	"fmt"
	"strings"
)

// inWords describes the hidden layers, the blocks, the number of members, and the embeddings
// that they share.
func (n *network) inWords() string {
	s := n.settings
	words := "linear"
	if len(s.Hidden) > 0 {
		words = fmt.Sprintf("hidden %v (%v)", strings.Trim(fmt.Sprint(s.Hidden), "[]"), s.Activation)
	}
	if s.Attention != nil {
		words += fmt.Sprintf(", attention (blocks %d, heads %d)", s.Blocks, s.Heads())
		if s.LatentCross {
			words += ", latent cross"
		}
	}
	if s.Size() > 1 {
		words = fmt.Sprintf("%d networks of %s", s.Size(), words)
	}
	for i, e := range s.Embeddings {
		before := ","
		if i == 0 {
			before = ", embeddings"
		}
		words += fmt.Sprintf("%s %d×%d", before, e.Codes, e.Width)
	}
	return words
}
