#compdef plrank
# Completion of plrank in zsh, after compinit: source <(plrank completion zsh)
_plrank() {
	local line
	local -a found
	for line in "${(@f)$("$words[1]" completion words "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] && found+=("${${line//:/\\:}/$'\t'/:}")
	done
	if (($#found)); then
		_describe plrank found
	else
		_files
	fi
}
if [[ $funcstack[1] == _plrank ]]; then # loaded from a folder of fpath
	_plrank
else
	compdef _plrank plrank
fi
