package cli

// JudgeLabels names labels of documents by judges and by people.
type JudgeLabels struct {
	Judge string `json:"judge,omitempty"` // files of labels by judges, for the documents that people did not judge
	Qrels string `json:"qrels,omitempty"` // files of labels by people; "": the labels of the data
}

// JudgeFlags returns the flags; their defaults are what l holds.
func (l *JudgeLabels) JudgeFlags() Flags {
	return Flags{
		{Name: "judge", Value: &l.Judge, Topic: "clicks", Resumable: true, Help: "`files` of labels by judges, such as language models, with " +
			"commas between: documents that people did not judge get the gain that people are expected to give them"},
		{Name: "qrels", Value: &l.Qrels, Topic: "clicks", Resumable: true,
			Help: "`files` of labels by people, for a part of the documents; without it, the labels of -data are theirs"},
	}
}
