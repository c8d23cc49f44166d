package train

// patience is the hook that ends a run after Config.Epochs, or where Config.Patience epochs in a
// row were not better than the best one; 0: never for that.
type patience struct {
	idle
	history          *history
	epochs, patience int
}

func (p *patience) enough() bool {
	done := len(p.history.epochs)
	return done >= p.epochs || p.patience > 0 && done-1-p.history.best() >= p.patience
}
