/** Shells with a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const

/**
 * @returns the script for a shell. It runs `tranche __complete` at every Tab, so it matches the installed version. A last line that begins
 * with a colon says whether file names are candidates (`:0`).
 */
export function completionScript(shell: (typeof shells)[number]): string {
  return scripts[shell]
}

const bash = `_tranche_complete() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :0) ;;
      :*) compopt +o default 2>/dev/null ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete --directive -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _tranche_complete tranche kubectl-tranche
`

const zsh = `#compdef tranche kubectl-tranche
_tranche_complete() {
  local -a found
  local line files=
  while IFS= read -r line; do
    case $line in
      :0) files=1 ;;
      :*) ;;
      *)
        line=\${line//:/\\\\:}
        found+=("\${line/$'\\t'/:}")
        ;;
    esac
  done < <("\${words[1]}" __complete --directive -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if [[ -n $files && \${#found} -eq 0 ]]; then
    _files
  else
    _describe 'tranche' found
  fi
}
compdef _tranche_complete tranche kubectl-tranche
`

const fish = `function __tranche_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in (command $words[1] __complete --directive -- $words[2..-1] "$current" 2>/dev/null)
    switch $line
      case ':0'
        __fish_complete_path "$current"
      case ':*'
      case '*'
        echo $line
    end
  end
end
complete -c tranche -f -a '(__tranche_complete)'
complete -c kubectl-tranche -f -a '(__tranche_complete)'
`

const scripts: Readonly<Record<(typeof shells)[number], string>> = { bash, zsh, fish }
