# Completion of plrank in bash: source <(plrank completion bash)
_plrank() {
	local line
	COMPREPLY=()
	while IFS=$'\t' read -r line _; do
		COMPREPLY+=("$line")
	done < <("$1" completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _plrank plrank
