# Completion of plrank in fish: plrank completion fish > ~/.config/fish/completions/plrank.fish
function __plrank_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] completion words $words[2..-1] 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c plrank -f -a '(__plrank_complete)'
