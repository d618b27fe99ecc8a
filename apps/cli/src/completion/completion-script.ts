/** Shells that can be made to complete. */
export const shells = ['bash', 'zsh', 'fish'] as const

/** @returns what a shell evaluates; it asks the command itself at every Tab, so that it never knows less than the command */
export function completionScript(shell: (typeof shells)[number]): string {
  return scripts[shell]
}

const bash = `_tranche_complete() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _tranche_complete tranche kubectl-tranche
`

const zsh = `#compdef tranche kubectl-tranche
_tranche_complete() {
  local -a found
  local line
  while IFS= read -r line; do
    line=\${line//:/\\\\:}
    found+=("\${line/$'\\t'/:}")
  done < <("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe 'tranche' found
}
compdef _tranche_complete tranche kubectl-tranche
`

const fish = `function __tranche_complete
  set -l words (commandline -opc) (commandline -ct)
  command $words[1] __complete -- $words[2..-1] 2>/dev/null
end
complete -c tranche -f -a '(__tranche_complete)'
complete -c kubectl-tranche -f -a '(__tranche_complete)'
`

const scripts: Readonly<Record<(typeof shells)[number], string>> = { bash, zsh, fish }
