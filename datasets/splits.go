package datasets

// Splits are the training, validation and test data of a collection. They have the same FeatureIDs.
type Splits struct {
	Train *Dataset
	Vali  *Dataset // held out of the training queries if the source has none
	Test  *Dataset // nil if the source has none
}

// Warnings are the warnings of all splits.
func (s *Splits) Warnings() []string {
	var all []string
	for _, d := range s.all() {
		if d != nil {
			all = append(all, d.Warnings...)
		}
	}
	return all
}

func (s *Splits) all() [3]*Dataset { return [3]*Dataset{s.Train, s.Vali, s.Test} }
