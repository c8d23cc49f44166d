package main

// chapters are all, in the order of the report.
func chapters() []chapter {
	return []chapter{
		samplesChapter,
		epochsChapter,
		timeChapter,
		fairnessChapter,
		fairnessSamplesChapter,
		frontierChapter,
		varianceChapter,
		exactChapter,
		authorsChapter,
		changesChapter,
	}
}
